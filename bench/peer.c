#include "bench/peers.h"
#include "io/format.h"
#include "io/process.h"

#include <stdio.h>

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
    "mesh.Add(ng.FaceDescriptor(bc=1, domin=1, surfnr=1))\n"
    "for r in rows('Triangles', 4):\n"
    "    mesh.Add(ng.Element2D(1, [p[int(v) - 1] for v in r[:3]]))\n"
    "for r in rows('Tetrahedra', 5):\n"
    "    a, b, c, d = [p[int(v) - 1] for v in r[:4]]\n"
    "    mesh.Add(ng.Element3D(1, [a, c, b, d]))\n"
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
    "        f.write('%d %d %d %d 1\\n' % (a, c, b, d))\n"
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

static kiln_status read_number(const char *path, double *number, kiln_error *error)
{
    FILE *file = fopen(path, "r");
    bool there = file && fscanf(file, "%lf", number) == 1;
    if (file)
        fclose(file);
    return there ? KILN_OK : kiln_fail(error, KILN_ERR_IO, path, 0, -1, "holds no time");
}

static kiln_status look_for(const kiln_peer *peer, kiln_context *context, const char *log,
                            kiln_error *error)
{
    char line[64];
    snprintf(line, sizeof line, "import %s", peer->module);
    const char *const arguments[] = {python, "-c", line, NULL};
    if (kiln_process_run(context, arguments, log, MOST_SECONDS, "python3", NULL) == KILN_OK)
        return KILN_OK;
    return kiln_fail(error, KILN_ERR_UNSUPPORTED, peer->name, 0, -1,
                     "not installed (make peers, Debian package %s)", peer->package);
}

static kiln_status improve_in(const kiln_scratch *scratch, const kiln_peer *peer,
                              const kiln_soup *in, kiln_soup *out, double *seconds,
                              kiln_error *error)
{
    char script[KILN_SCRATCH_PATH], before[KILN_SCRATCH_PATH], after[KILN_SCRATCH_PATH],
        log[KILN_SCRATCH_PATH];
    const kiln_format_options text = {.encoding = KILN_ENCODING_ASCII};
    kiln_scratch_file(scratch, "improve.py", script);
    kiln_scratch_file(scratch, "before.mesh", before);
    kiln_scratch_file(scratch, "after.mesh", after);
    kiln_scratch_file(scratch, "log", log);
    KILN_TRY(look_for(peer, scratch->context, log, error));
    KILN_TRY(write_text(script, peer->script, error));
    KILN_TRY(kiln_soup_write(scratch->context, before, &text, in, error));
    const char *const arguments[] = {python, script, before, after, NULL};
    KILN_TRY(
        kiln_process_run(scratch->context, arguments, log, MOST_SECONDS, peer->package, error));
    KILN_TRY(read_number(log, seconds, error));
    return kiln_soup_read(scratch->context, after, NULL, out, error);
}

kiln_status kiln_peer_improve(const kiln_peer *peer, const kiln_soup *in, kiln_soup *out,
                              double *seconds, kiln_error *error)
{
    kiln_scratch scratch;
    KILN_TRY(kiln_scratch_make(&scratch, in->context, error));
    kiln_status status = improve_in(&scratch, peer, in, out, seconds, error);
    kiln_scratch_remove(&scratch);
    return status;
}
