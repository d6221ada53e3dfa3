/* The subcommands of `kiln mesh`, and what they share. */
#ifndef KILN_APP_MESH_COMMAND_H
#define KILN_APP_MESH_COMMAND_H

#include "app/command.h"

/* --ascii, --binary and --format of a command that writes a mesh. */
kiln_status kiln_encoding_options(const kiln_arguments *arguments, kiln_format_options *out,
                                  kiln_error *error);
void kiln_list_formats(FILE *out); /* for --help */

int kiln_command_mesh_fill(int argc, char **argv);
int kiln_command_mesh_improve(int argc, char **argv);
int kiln_command_mesh_remesh(int argc, char **argv);
int kiln_command_mesh_refine(int argc, char **argv);
int kiln_command_mesh_coarsen(int argc, char **argv);

#endif
