# Kiln: everything starts here. CMake and Ninja do the work; build/kiln is the program.
.DEFAULT_GOAL := build
SHELL         := /bin/bash
.SHELLFLAGS   := -o pipefail -c

PREFIX       ?= /usr/local
FUZZ_SECONDS ?= 60
ONLY         ?=
# Direct solver: cholmod, or mumps for a binary without GPL parts (in build/release-mumps)
SOLVER       ?= cholmod
# Where the meshes of some tests are; empty: ../shared/data
SHARED_DATA  ?=

# Another solver has folders and packages of its own.
flavour    = $(if $(filter cholmod,$(SOLVER)),,-$(SOLVER))
release   := release$(flavour)
sanitized := asan$(flavour)
extra      = $(if $(filter cholmod,$(SOLVER)),,tools/packages-$(SOLVER))

# A tree that was moved or copied after its build: CMake would refuse the folder it finds.
stay      = if [ -e build/$(1) ] && ! [ "$$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' \
            build/$(1)/CMakeCache.txt 2>/dev/null)" -ef . ]; then \
            echo "build/$(1) was made at another place: it is made anew"; rm -rf build/$(1); fi
configure = $(call stay,$(1)); cmake -S . -B build/$(1) -G Ninja -DCMAKE_INSTALL_PREFIX=$(PREFIX) \
            -DKILN_SOLVER=$(SOLVER) \
            $(if $(SHARED_DATA),-DKILN_SHARED_DATA=$(abspath $(SHARED_DATA))) $(2) >build/$(1).log \
            || { cat build/$(1).log; exit 1; }
ninja     = ninja -C build/$(1) --quiet $(2) | sed '/no work to do/d'

help: ## this list
	@sed -n 's/^\([a-z]*\):[^#]*## /\1|/p' Makefile | while IFS='|' read -r name text; do \
	    printf 'make %-10s %s\n' "$$name" "$$text"; done

bootstrap: ## install the Debian packages that are missing
	@tools/bootstrap $(extra)
	@mkdir -p build

build: bootstrap ## the optimised program, at build/kiln
	@$(call configure,$(release))
	@$(call ninja,$(release),kiln kiln_static kiln_shared)
	@ln -sfn $(release)/kiln build/kiln

demo: build ## build, run a short scene, make pictures and a film of it
	@build/kiln demo

asan: bootstrap ## everything with AddressSanitizer and UndefinedBehaviorSanitizer, in build/asan
	@$(call configure,$(sanitized),-DKILN_SANITIZE=ON)
	@$(call ninja,$(sanitized))

test: build asan ## all tests under the sanitizers, and the checks of the source tree
	@tools/run_tests build/$(sanitized)

soak: build asan ## the random campaigns at full length; the summary goes to docs/soak.md
	@$(call ninja,release)
	@tools/soak $(ONLY)

tsan: bootstrap ## the tests that use threads, with ThreadSanitizer
	@$(call configure,tsan,-DKILN_TSAN=ON)
	@$(call ninja,tsan)
	@tools/run_tests build/tsan --no-checks --using 'kiln_test_context\((threads|[2-9])'

validate: build ## measure what has a known answer against it; the table goes to docs/validation.md
	@build/kiln validate --write docs/validation.md

bench: build ## time the kernels; the table goes to docs/performance.md
	@build/kiln bench --write docs/performance.md

peers: ## install the mesh programs that `kiln bench peers` runs beside Kiln
	@tools/bootstrap tools/packages-peers

fuzz: ## each reader's fuzzer for FUZZ_SECONDS (60), with clang
	@tools/bootstrap tools/packages-fuzz
	@mkdir -p build
	@$(call configure,fuzz,-DCMAKE_C_COMPILER=clang-14 -DKILN_SANITIZE=ON -DKILN_FUZZ=ON)
	@$(call ninja,fuzz,fuzz/all)
	@tools/fuzz build/fuzz $(FUZZ_SECONDS) $(ONLY)

install: build ## program, libraries, header, pkg-config file below DESTDIR and PREFIX (/usr/local)
	@DESTDIR="$(DESTDIR)" cmake --install build/$(release)

format: bootstrap ## clang-format over all sources
	@find src include measure validation bench tests fuzz examples -name '*.[ch]' -print0 | xargs -0 clang-format -i

clean: ## remove what was built
	@rm -rf build

.PHONY: help bootstrap build demo asan test soak tsan validate bench peers fuzz install format clean
