#include "measure/provenance.h"

#include <string.h>

void kiln_provenance_machine(const kiln_context *context, char *text, size_t size)
{
    char line[256], model[200] = "unknown processor";
    FILE *info = fopen("/proc/cpuinfo", "r");
    while (info && fgets(line, sizeof line, info)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) {
            snprintf(model, sizeof model, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (info)
        fclose(info);
    snprintf(text, size, "%s, %s instructions, %d thread%s", model, kiln_isa_name(context->isa),
             context->threads, context->threads == 1 ? "" : "s");
}

static void print_commit(FILE *out)
{
    char commit[64] = "";
    FILE *git = popen("git rev-parse --short=12 HEAD 2>/dev/null", "r");
    if (git) {
        if (fgets(commit, sizeof commit, git))
            commit[strcspn(commit, "\n")] = 0;
        pclose(git);
    }
    fprintf(out, "- version: %s, commit %s\n", kiln_version(), commit[0] ? commit : "unknown");
}

void kiln_provenance_print(const kiln_context *context, FILE *out)
{
    char machine[KILN_MACHINE_TEXT];
    kiln_provenance_machine(context, machine, sizeof machine);
    fprintf(out, "- machine: %s\n- compiler: %s\n", machine, KILN_COMPILER);
    print_commit(out);
}
