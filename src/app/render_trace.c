#include "app/render_trace.h"

#include <embree3/rtcore.h>
#include <float.h>

struct kiln_tracer {
    kiln_context *context;
    RTCDevice device;
    RTCScene scene;
    RTCScene scenery; /* without the bodies; NULL: there is none */
    size_t body_triangles;
};

static kiln_status embree_failed(kiln_tracer *tracer, kiln_error *error)
{
    enum RTCError code = rtcGetDeviceError(tracer->device);
    kiln_tracer_destroy(tracer);
    if (code == RTC_ERROR_OUT_OF_MEMORY)
        return kiln_fail(error, KILN_ERR_MEMORY, NULL, 0, -1, "out of memory for ray tracing");
    return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1, "Embree failed with error %d", (int)code);
}

/* Of the triangles from `first` on. */
static RTCScene make_scene(RTCDevice device, const kiln_render_mesh *mesh, size_t first)
{
    RTCScene scene = rtcNewScene(device);
    rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
    RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                               mesh->position, 0, sizeof *mesh->position, mesh->vertex_count);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                               mesh->corner + first, 0, sizeof *mesh->corner,
                               mesh->triangle_count - first);
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene, geometry);
    rtcReleaseGeometry(geometry);
    rtcCommitScene(scene);
    return scene;
}

kiln_status kiln_tracer_create(const kiln_render_mesh *mesh, kiln_tracer **out, kiln_error *error)
{
    kiln_context *context = mesh->arena->context;
    kiln_tracer *tracer = kiln_resize(context, NULL, 0, sizeof *tracer);
    if (!tracer)
        return kiln_fail_memory(error, sizeof *tracer);
    /* One thread builds the tree: with more, its shape, and so which of two touching triangles is
     * hit, would depend on their timing. */
    *tracer = (kiln_tracer){.context = context};
    tracer->device = rtcNewDevice("threads=1,set_affinity=0");
    if (!tracer->device)
        return embree_failed(tracer, error);
    tracer->scene = make_scene(tracer->device, mesh, 0);
    if (mesh->triangle_count > mesh->body_triangles)
        tracer->scenery = make_scene(tracer->device, mesh, mesh->body_triangles);
    tracer->body_triangles = mesh->body_triangles;
    enum RTCError code = rtcGetDeviceError(tracer->device);
    if (code != RTC_ERROR_NONE)
        return embree_failed(tracer, error);
    *out = tracer;
    return KILN_OK;
}

void kiln_tracer_destroy(kiln_tracer *tracer)
{
    if (!tracer)
        return;
    if (tracer->scenery)
        rtcReleaseScene(tracer->scenery);
    if (tracer->scene)
        rtcReleaseScene(tracer->scene);
    if (tracer->device)
        rtcReleaseDevice(tracer->device);
    kiln_release(tracer->context, tracer, sizeof *tracer);
}

static struct RTCRay make_ray(kiln_vec3 from, kiln_vec3 direction)
{
    return (struct RTCRay){.org_x = (float)from.x,
                           .org_y = (float)from.y,
                           .org_z = (float)from.z,
                           .dir_x = (float)direction.x,
                           .dir_y = (float)direction.y,
                           .dir_z = (float)direction.z,
                           .tfar = FLT_MAX,
                           .mask = UINT32_MAX};
}

static bool meets(RTCScene scene, struct RTCRay ray, kiln_hit *hit)
{
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    struct RTCRayHit query = {.ray = ray};
    query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    rtcIntersect1(scene, &context, &query);
    if (query.hit.geomID == RTC_INVALID_GEOMETRY_ID)
        return false;
    *hit = (kiln_hit){query.hit.primID, query.ray.tfar, query.hit.u, query.hit.v};
    return true;
}

bool kiln_tracer_hit(const kiln_tracer *tracer, kiln_vec3 from, kiln_vec3 direction, kiln_hit *hit)
{
    return meets(tracer->scene, make_ray(from, direction), hit);
}

bool kiln_tracer_hit_scenery(const kiln_tracer *tracer, kiln_vec3 from, kiln_vec3 direction,
                             double within, kiln_hit *hit)
{
    struct RTCRay ray = make_ray(from, direction);
    ray.tfar = (float)within;
    if (!tracer->scenery || !meets(tracer->scenery, ray, hit))
        return false;
    hit->triangle += tracer->body_triangles;
    return true;
}

bool kiln_tracer_blocked(const kiln_tracer *tracer, kiln_vec3 from, kiln_vec3 direction)
{
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    struct RTCRay ray = make_ray(from, direction);
    rtcOccluded1(tracer->scene, &context, &ray);
    return ray.tfar < 0.0f;
}
