/* A run made up without a simulation: a ball that falls, flattens and rises again beside a block
 * that stands, with the folder layout that `kiln run` writes. */
#ifndef KILN_TESTS_SYNTHETIC_RUN_H
#define KILN_TESTS_SYNTHETIC_RUN_H

#include "fixtures.h"
#include "support.h"

#include "io/format.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

typedef struct synthetic_run {
    const char *folder;
    int frames;
    bool one_region; /* ball and block alike */
    bool slope; /* instead of ground and ball a plane that leans, cut out of it anew each frame */
    bool obstacles;                  /* ground and a ball beside, surface/obstacles-NNNNNN.ply */
    const char *ball, *block, *rock; /* settings of the shapes; NULL: coarse */
} synthetic_run;

static inline double synthetic_height(double t)
{
    return 0.5 + 1.6 * fabs(cos(3.0 * t));
}

static inline void synthetic_frame(const kiln_soup *rest, size_t ball_points, double t,
                                   kiln_soup *out)
{
    kiln_error error = {0};
    kiln_context *context = rest->context;
    kiln_soup_init(out, context);
    ck_assert_int_eq(kiln_soup_append(out, rest, 0, &error), KILN_OK);
    kiln_soup_field *u, *v, *stress, *mises;
    ck_assert_int_eq(kiln_soup_add_field(out, "u", KILN_ON_VERTEX, 3, &u, &error), KILN_OK);
    ck_assert_int_eq(kiln_soup_add_field(out, "v", KILN_ON_VERTEX, 3, &v, &error), KILN_OK);
    ck_assert_int_eq(kiln_soup_add_field(out, "stress", KILN_ON_TET, 6, &stress, &error), KILN_OK);
    ck_assert_int_eq(kiln_soup_add_field(out, "mises", KILN_ON_TET, 1, &mises, &error), KILN_OK);
    u = (kiln_soup_field *)kiln_soup_find_field(out, KILN_ON_VERTEX, "u");
    v = (kiln_soup_field *)kiln_soup_find_field(out, KILN_ON_VERTEX, "v");
    stress = (kiln_soup_field *)kiln_soup_find_field(out, KILN_ON_TET, "stress");
    mises = (kiln_soup_field *)kiln_soup_find_field(out, KILN_ON_TET, "mises");
    double height = synthetic_height(t), flat = 1.0 - 0.3 * exp(-8.0 * (height - 0.5));
    double fall = (synthetic_height(t + 1e-6) - height) / 1e-6;
    for (size_t i = 0; i < out->points.count; i++) {
        kiln_vec3 p = out->points.data[i];
        const double material[3] = {p.x, p.y, p.z};
        for (int k = 0; k < 3; k++)
            u->data.data[3 * i + (size_t)k] = material[k];
        if (i >= ball_points)
            continue;
        out->points.data[i] =
            kiln_v3(p.x / sqrt(flat), p.y / sqrt(flat), 0.5 * flat + height - 0.5 + p.z * flat);
        v->data.data[3 * i + 2] = fall;
    }
    for (size_t i = 0; i < out->tets.count; i++) {
        const uint32_t *c = out->tets.data[i].v;
        double z = out->points.data[c[0]].z, load = c[0] < ball_points ? 1.0 - flat : 0.02;
        stress->data.data[6 * i + 2] = -1e4 * load / (0.2 + z);
        mises->data.data[i] = 1e4 * load / (0.2 + z);
    }
}

static inline void synthetic_obstacles(const synthetic_run *run, kiln_context *context, int frame)
{
    kiln_error error = {0};
    kiln_soup rock = kiln_test_soup(context, "ball", run->rock ? run->rock : "radius=0.3 h=0.2");
    kiln_soup surface;
    kiln_soup_init(&surface, context);
    for (size_t i = 0; i < rock.points.count; i++)
        rock.points.data[i] =
            kiln_v3_add(rock.points.data[i], kiln_v3(0.2, -1.1 + 0.02 * frame, 0.3));
    ck_assert_int_eq(kiln_soup_append(&surface, &rock, 0, &error), KILN_OK);
    surface.tets.count = surface.tet_tags.count = 0;
    uint32_t first = (uint32_t)surface.points.count;
    kiln_vec3 corners[4] = {{-20, -20, 0}, {20, -20, 0}, {20, 20, 0}, {-20, 20, 0}};
    for (int i = 0; i < 4 && run->slope; i++) {
        double s = corners[i].y * 0.1 * (1.0 + 0.1 * frame) + 0.5 * frame;
        corners[i] = kiln_v3(0.1 * corners[i].x, s * cos(0.3), s * sin(0.3) - 0.3);
    }
    if (run->slope)
        surface.triangles.count = 0;
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(kiln_array_push(context, &surface.points, corners[i], &error), KILN_OK);
    surface.point_tags.count = surface.triangle_tags.count = 0;
    const kiln_soup_triangle floor[2] = {{{first, first + 1, first + 2}},
                                         {{first, first + 2, first + 3}}};
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(kiln_array_push(context, &surface.triangles, floor[i], &error), KILN_OK);
    char path[300];
    snprintf(path, sizeof path, "%s/surface/obstacles-%06d.ply", run->folder, frame);
    ck_assert_msg(kiln_soup_write(context, path, NULL, &surface, &error) == KILN_OK, "%s",
                  error.message);
    kiln_soup_free(&surface);
    kiln_soup_free(&rock);
}

static inline void synthetic_stats(const synthetic_run *run)
{
    char path[300];
    snprintf(path, sizeof path, "%s/stats.csv", run->folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("step,time,dt,vertices,tets,q_min,volume,rest_volume,px,py,pz,lx,ly,lz,e_kinetic,"
          "e_elastic,e_contact,newton,linear,t_step,t_assemble,t_factor,t_solve,t_contact,"
          "t_plastic,t_size,t_remesh,t_transfer,t_io,e_load,q_mean,rejected,contacts,rx,ry,rz,fx,"
          "fy,fz\n",
          file);
    for (int i = 0; i < 4 * run->frames; i++) {
        double t = 0.01 * i, z = synthetic_height(t);
        double fall = (synthetic_height(t + 1e-6) - z) / 1e-6;
        fprintf(file,
                "%d,%.6g,%g,1200,5600,%.4f,%.6g,0.9,0,0,%.6g,0,0,0,%.6g,%.6g,,%d,%d,%.4g,%.4g,%.4g,"
                "%.4g,%.4g,,,,,%.4g,%.6g,0.81,0,0,0,0,0,0,0,0\n",
                i, t, i < 40 ? 0.01 : 0.005, 0.4 + 0.1 * sin(t), 0.9 - 0.02 * exp(-9 * (z - 0.5)),
                40 * fall, 20 * fall * fall, 300 * exp(-9 * (z - 0.5)), 3 + i % 4, 3 + i % 4,
                0.1 + 0.01 * (i % 7), 0.03 + 0.002 * (i % 5), 0.04 + 0.004 * (i % 3), 0.015, 0.005,
                0.002, 400 * z);
    }
    fclose(file);
}

static inline void synthetic_write(const synthetic_run *run)
{
    kiln_error error = {0};
    kiln_context *context = kiln_test_context(1);
    kiln_soup rest = kiln_test_soup(context, "ball", run->ball ? run->ball : "radius=0.5 h=0.25");
    kiln_soup block = kiln_test_soup(context, "box", run->block ? run->block : "n=2");
    size_t ball_points = rest.points.count;
    for (size_t i = 0; i < block.points.count; i++)
        block.points.data[i] =
            kiln_v3_add(kiln_v3_scale(block.points.data[i], 0.7), kiln_v3(-0.3, 0.8, 0.0));
    ck_assert_int_eq(kiln_soup_append(&rest, &block, run->one_region ? 0 : 1, &error), KILN_OK);
    char path[300];
    mkdir(run->folder, 0777);
    snprintf(path, sizeof path, "%s/frames", run->folder);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/surface", run->folder);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/run.pvd", run->folder);
    FILE *list = fopen(path, "w");
    ck_assert_ptr_nonnull(list);
    fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n",
          list);
    for (int i = 0; i < run->frames; i++) {
        kiln_soup frame;
        synthetic_frame(&rest, ball_points, 0.04 * i, &frame);
        snprintf(path, sizeof path, "%s/frames/%06d.vtu", run->folder, i);
        ck_assert_msg(kiln_soup_write(context, path, NULL, &frame, &error) == KILN_OK, "%s",
                      error.message);
        kiln_soup_free(&frame);
        if (run->obstacles)
            synthetic_obstacles(run, context, i);
        fprintf(list, "<DataSet timestep=\"%.6g\" file=\"frames/%06d.vtu\"/>\n", 0.04 * i, i);
    }
    fputs("</Collection>\n</VTKFile>\n", list);
    fclose(list);
    synthetic_stats(run);
    kiln_soup_free(&block);
    kiln_soup_free(&rest);
    kiln_context_destroy(context);
}

#endif
