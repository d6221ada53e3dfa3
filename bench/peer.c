#include "bench/peer.h"
#include "io/format.h"
#include "io/process.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_SECONDS = 120 };

/* Debian's modules are for Debian's Python, whichever comes first in PATH. */
static const char python[] = "/usr/bin/python3";

static const char gmsh_script[] = "import sys, time, gmsh\n"
                                  "gmsh.initialize()\n"
                                  "gmsh.option.setNumber('General.Terminal', 0)\n"
                                  "gmsh.option.setNumber('General.NumThreads', 1)\n"
                                  "gmsh.option.setNumber('Mesh.SaveAll', 1)\n"
                                  "gmsh.open(sys.argv[1])\n"
                                  "start = time.process_time()\n"
                                  "gmsh.model.mesh.optimize('', force=True)\n"
                                  "print(time.process_time() - start)\n"
                                  "gmsh.write(sys.argv[2])\n";

/* Netgen counts a tet as positive in the other orientation. */
static const char netgen_script[] =
    "import sys, time\n"
    "import netgen.meshing as ng\n"
    "ng.SetMessageImportance(0)\n"
    "words = open(sys.argv[1]).read().split()\n"
    "def rows(name, width):\n"
    "    at = words.index(name) + 1\n"
    "    return [words[at + 1 + i * width:at + 1 + (i + 1) * width]\n"
    "            for i in range(int(words[at]))]\n"
    "mesh = ng.Mesh(3)\n"
    "p = [mesh.Add(ng.MeshPoint(ng.Pnt(*map(float, r[:3])))) for r in rows('Vertices', 4)]\n"
    "tets = [[int(v) for v in r] for r in rows('Tetrahedra', 5)]\n"
    "regions = sorted(set(t[4] for t in tets))\n" /* 0 is outside for Netgen */
    "tets = [t[:4] + [regions.index(t[4]) + 1] for t in tets]\n"
    "sides = {}\n"
    "for a, b, c, d, region in tets:\n"
    "    for f in ((b, c, d), (a, d, c), (a, b, d), (a, c, b)):\n"
    "        sides.setdefault(tuple(sorted(f)), []).append((region, f))\n"
    "kinds = {}\n"
    "for s in sides.values():\n"
    "    domains = (s[0][0], s[1][0] if len(s) > 1 else 0)\n"
    "    if domains[0] == domains[1]:\n"
    "        continue\n"
    "    if domains not in kinds:\n"
    "        kinds[domains] = mesh.Add(ng.FaceDescriptor(bc=1, domin=domains[0],\n"
    "                                  domout=domains[1], surfnr=len(kinds) + 1))\n"
    "    mesh.Add(ng.Element2D(kinds[domains], [p[v - 1] for v in s[0][1]]))\n"
    "for a, b, c, d, region in tets:\n"
    "    mesh.Add(ng.Element3D(region, [p[v - 1] for v in (a, c, b, d)]))\n"
    "start = time.process_time()\n"
    "mesh.OptimizeVolumeMesh()\n"
    "print(time.process_time() - start)\n"
    "points, tets = list(mesh.Points()), list(mesh.Elements3D())\n"
    "with open(sys.argv[2], 'w') as f:\n"
    "    f.write('MeshVersionFormatted 2\\nDimension 3\\nVertices\\n%d\\n' % len(points))\n"
    "    for q in points:\n"
    "        f.write('%.17g %.17g %.17g 0\\n' % tuple(q.p))\n"
    "    f.write('Tetrahedra\\n%d\\n' % len(tets))\n"
    "    for t in tets:\n"
    "        a, b, c, d = [v.nr for v in t.vertices]\n"
    "        f.write('%d %d %d %d %d\\n' % (a, c, b, d, regions[t.index - 1]))\n"
    "    f.write('End\\n')\n";

const kiln_peer *kiln_peer_at(size_t index)
{
    static const kiln_peer peers[] = {
        {"Gmsh", "python3-gmsh", "gmsh", gmsh_script},
        {"Netgen", "python3-netgen", "netgen.meshing", netgen_script}};
    return index < sizeof peers / sizeof *peers ? &peers[index] : NULL;
}

static kiln_status write_text(const char *path, const char *text, kiln_error *error)
{
    FILE *file = fopen(path, "w");
    bool written = file && fputs(text, file) >= 0;
    if (file && fclose(file) != 0)
        written = false;
    return written ? KILN_OK : kiln_fail(error, KILN_ERR_IO, path, 0, -1, "cannot write");
}

/* The last word, which must be a number: programs may have said something before. */
static kiln_status read_number(const char *path, double *number, kiln_error *error)
{
    FILE *file = fopen(path, "r");
    char word[64] = "", *end = word;
    while (file && fscanf(file, "%63s", word) == 1)
        *number = strtod(word, &end);
    bool there = end != word && *end == 0;
    if (file)
        fclose(file);
    return there ? KILN_OK : kiln_fail(error, KILN_ERR_IO, path, 0, -1, "holds no time");
}

/* The first word of what a process wrote. */
static void read_word(const char *path, char word[48])
{
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%47s", word) != 1)
        snprintf(word, 48, "of unknown version");
    if (file)
        fclose(file);
}

static kiln_status look_for(const kiln_peer *peer, kiln_context *context, const char *log,
                            char version[48], kiln_error *error)
{
    const char *const question[] = {"/usr/bin/dpkg-query", "-W", "-f=${Version}", peer->package,
                                    NULL};
    char line[64];
    snprintf(line, sizeof line, "import %s", peer->module);
    const char *const arguments[] = {python, "-c", line, NULL};
    if (kiln_process_run(context, arguments, log, MOST_SECONDS, "python3", NULL) == KILN_OK) {
        kiln_process_run(context, question, log, MOST_SECONDS, "dpkg", NULL);
        read_word(log, version);
        return KILN_OK;
    }
    return kiln_fail(error, KILN_ERR_UNSUPPORTED, peer->name, 0, -1,
                     "not installed (make peers, Debian package %s)", peer->package);
}

static kiln_status improve_in(const kiln_scratch *scratch, const kiln_peer *peer,
                              const kiln_soup *in, kiln_soup *out, kiln_peer_run *run,
                              kiln_error *error)
{
    char script[KILN_SCRATCH_PATH], before[KILN_SCRATCH_PATH], after[KILN_SCRATCH_PATH],
        log[KILN_SCRATCH_PATH];
    const kiln_format_options text = {.encoding = KILN_ENCODING_ASCII};
    kiln_scratch_file(scratch, "improve.py", script);
    kiln_scratch_file(scratch, "before.mesh", before);
    kiln_scratch_file(scratch, "after.mesh", after);
    kiln_scratch_file(scratch, "log", log);
    KILN_TRY(look_for(peer, scratch->context, log, run->version, error));
    KILN_TRY(write_text(script, peer->script, error));
    KILN_TRY(kiln_soup_write(scratch->context, before, &text, in, error));
    const char *const arguments[] = {python, script, before, after, NULL};
    KILN_TRY(
        kiln_process_run(scratch->context, arguments, log, MOST_SECONDS, peer->package, error));
    KILN_TRY(read_number(log, &run->seconds, error));
    return kiln_soup_read(scratch->context, after, NULL, out, error);
}

kiln_status kiln_peer_improve(const kiln_peer *peer, const kiln_soup *in, kiln_soup *out,
                              kiln_peer_run *run, kiln_error *error)
{
    kiln_scratch scratch;
    KILN_TRY(kiln_scratch_make(&scratch, in->context, error));
    kiln_status status = improve_in(&scratch, peer, in, out, run, error);
    kiln_scratch_remove(&scratch);
    return status;
}
