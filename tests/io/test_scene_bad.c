/* Scenes that are wrong: each must be refused with the line, the path of the key, the rule and what
 * was found, within the limits of the sandbox, and without a leak. */
#include "fixture.h"
#include "io/scene.h"
#include "sim/world.h"

#define M      "material { young = 1e5 }"
#define BODY   "body { shape = shape.box { n = 1 }, material = " M " }"
#define BODIES "duration = 1, bodies = { " BODY " }, "
/* A scene with one more thing in it, in line 1. */
#define WITH(text) "return scene { " BODIES text " }"
/* A body with one more thing in it. */
#define BODY_WITH(text)                                                                            \
    "return scene { duration = 1, bodies = { body { shape = shape.box { n = 1 }, material = " M    \
    ", " text " } } }"
#define MATERIAL_WITH(text)                                                                        \
    "return scene { duration = 1, bodies = { body { shape = shape.box { n = 1 }, "                 \
    "material = material { " text " } } } }"
#define PLASTIC(text) MATERIAL_WITH("young = 1e5, plastic = plastic { " text " }")
#define REMESH(text)  WITH("remesh = remesh { " text " }")
#define SHAPE_OF(text)                                                                             \
    "return scene { duration = 1, bodies = { body { shape = " text ", material = " M " } } }"
#define HOLD(text)     WITH("holds = { hold { " text " } }")
#define PROBE(text)    WITH("probes = { probe { " text " } }")
#define PAIR(text)     WITH("contact = { pairs = { pair { " text " } } }")
#define LOAD(text)     WITH("loads = { " text " }")
#define OBSTACLE(text) WITH("obstacles = { " text " }")
#define RUN(text)      text "\n" WITH("")

typedef struct bad {
    const char *text;
    int line;
    const char *message; /* a part of it */
} bad;

static const bad rows[] = {
    /* Not a scene at all. */
    {"", 0, "must end with return scene { ... }, got nothing"},
    {"return 5", 0, "must end with return scene { ... }, got 5"},
    {"return 'x'", 0, "must end with return scene { ... }, got \"x\""},
    {"return body {}", 0, "must be a table scene { ... }, got a body"},
    {"return scene", 0, "must end with return scene { ... }, got a function"},
    {"return scene(5)", 1, "scene takes a table: scene { ... }, got 5"},
    {"return scene({}, {})", 1, "scene takes one table"},
    {"return scene(body {})", 1, "scene takes a table: scene { ... }, got a body"},
    {"\n\nreturn scene { name = 'a'", 3, "'}' expected near <eof>"},
    {"x = = 1", 1, "unexpected symbol near '='"},
    {"\x1bLua", 0, "is compiled Lua; scenes are text"},
    {"return scene {}", 1, "duration: must be given"},
    {"return scene { duration = 1 }", 1, "bodies: must be given"},
    /* Keys. */
    {WITH("durration = 2"), 1, "durration: unknown key; did you mean 'duration'?"},
    {WITH("\n\nxyzzy = 2"), 1, "xyzzy: unknown key; scene has name, duration, gravity"},
    {WITH("5"), 1, "has an item [1]; scene takes key = value only"},
    {WITH("step = { integratr = 'bdf2' }"), 1,
     "step.integratr: unknown key; did you mean 'integrator'?"},
    {WITH("step = { newton = { tol = 1 } }"), 1, "step.newton.tol: unknown key"},
    {WITH("step = { solver = { bakend = 'auto' } }"), 1,
     "step.solver.bakend: unknown key; did you mean 'backend'?"},
    {"\nlocal m = material {\n yung = 1e5 }\nreturn scene { duration = 1, bodies = {\nbody { shape "
     "= "
     "shape.box {}, material = m } } }",
     2, "bodies[1].material.yung: unknown key; did you mean 'young'?"},
    {"return scene { duration = 1, bodies = {\n" BODY
     ",\nbody { name = 'b',\nshape = shape.box { n = "
     "1 },\nmaterial = material { young = -3e6 } } } }",
     5, "bodies[2].material.young: must be positive, got -3000000"},
    {SHAPE_OF("shape.box { length = 1 }"), 1, "bodies[1].shape.length: unknown key"},
    {SHAPE_OF("shape.bx {}"), 1, "unknown shape.bx; did you mean shape.box?"},
    {SHAPE_OF("shape.dodecahedron {}"), 1, "unknown shape.dodecahedron; there are box, ball"},
    {HOLD("where = select.halfspace {}"), 1,
     "unknown select.halfspace; did you mean select.half_space?"},
    {HOLD("where = select.sphere { center = {0, 0, 0}, radius = 1 }"), 1,
     "holds[1].where.center: unknown key; did you mean 'centre'?"},
    {"return scne {}", 1, "unknown name 'scne'; did you mean 'scene'?"},
    {"local x = qwertyuiop", 1, "unknown name 'qwertyuiop'"},
    /* Types. */
    {WITH("gravity = 9.81"), 1, "gravity: must be three numbers {x, y, z} or a function, got 9.81"},
    {WITH("gravity = {0, 0}"), 1, "gravity: must be three numbers {x, y, z}, got 2"},
    {WITH("gravity = {0, 0, 'down'}"), 1, "gravity[3]: must be a number, got \"down\""},
    {WITH("gravity = {x = 0, y = 0, z = -9}"), 1,
     "gravity: must be a list of three numbers {x, y, z}, but has a key \""},
    {WITH("name = 5"), 1, "name: must be a text, got 5"},
    {WITH("name = ''"), 1, "name: must be a text of 1 to 63 bytes, got 0"},
    {WITH("name = ('n'):rep(64)"), 1, "name: must be a text of 1 to 63 bytes, got 64"},
    {WITH("name = 'a\\nb'"), 1, "name: must be a text without control characters, got \"a?b\""},
    {WITH("step = 5"), 1, "step: must be a table { dt = ..., ... }, got 5"},
    {WITH("output = 0.1"), 1, "output: must be a table { frame = ..., ... }, got 0.1"},
    {WITH("dt = 0.1"), 1, "dt: belongs in step: step = { dt = ... }"},
    {WITH("step = { iterations = 9 }"), 1,
     "step.iterations: belongs in newton: newton = { iterations = ... }"},
    {WITH("contact = 1"), 1,
     "contact: must be true, false or a table contact { bodies = ..., ... }, got 1"},
    {WITH("step = { dt = '0.01' }"), 1, "step.dt: must be a number, got \"0.01\""},
    {WITH("step = { linearised = 1 }"), 1, "step.linearised: must be true or false, got 1"},
    {WITH("step = { patience = 1.5 }"), 1, "step.patience: must be a whole number, got 1.5"},
    {"return scene { duration = 1, bodies = 5 }", 1, "bodies: must be a list of bodies, got 5"},
    {"return scene { duration = 1, bodies = " BODY " }", 1,
     "bodies: must be a list of bodies, got one body; a list of one is { body { ... } }"},
    {"return scene { duration = 1, bodies = {} }", 1,
     "bodies: must have at least one body, got none"},
    {"return scene { duration = 1, bodies = { a = " BODY " } }", 1,
     "bodies: must be a list of bodies, but has a key \"a\""},
    {"return scene { duration = 1, bodies = { " M " } }", 1,
     "bodies[1]: must be a table body { ... }, got a material"},
    {"return scene { duration = 1, bodies = { 7 } }", 1,
     "bodies[1]: must be a table body { ... }, got 7"},
    {SHAPE_OF("{ n = 1 }"), 1, "bodies[1].shape: must be made by shape.box { ... }"},
    {SHAPE_OF("select.all {}"), 1,
     "bodies[1].shape: must be made by shape.box { ... } or another shape, got a selection"},
    {SHAPE_OF("shape.box { n = 'four' }"), 1, "bodies[1].shape.n: must be a number, got \"four\""},
    {SHAPE_OF("shape.box { n = 1.5 }"), 1, "bodies[1].shape.n: must be a whole number, got 1.5"},
    {SHAPE_OF("shape.box { pattern = 'brick' }"), 1,
     "bodies[1].shape.pattern: must be one of kuhn|mirrored|bcc, got \"brick\""},
    {SHAPE_OF("shape.text { text = 5 }"), 1, "bodies[1].shape.text: must be a text, got 5"},
    {HOLD("where = 'top'"), 1, "holds[1].where: must be a selection such as select.box"},
    {HOLD("where = select.all {} & 5"), 1, "a selection can only be combined with another, got 5"},
    {HOLD("motion = function(t) return t end"), 1, "holds[1].motion: must be made by motion.still"},
    {LOAD("load.pressure { amount = {1, 2, 3} }"), 1,
     "loads[1].amount: must be a number or a function, got a table"},
    {BODY_WITH("turn = 30"), 1,
     "bodies[1].turn: must be a table {axis = ..., degrees = ...}, got 30"},
    {WITH("output = { fields = 'mises' }"), 1,
     "output.fields: must be a list of names, got \"mises\""},
    /* Missing. */
    {"return scene { bodies = { " BODY " } }", 1, "duration: must be given"},
    {"return scene { duration = 1, bodies = { body { shape = shape.box {} } } }", 1,
     "bodies[1].material: must be given"},
    {"return scene { duration = 1, bodies = { body { material = " M " } } }", 1,
     "bodies[1].shape: must be given"},
    {MATERIAL_WITH(""), 1, "bodies[1].material.young: must be given: Young's modulus"},
    {SHAPE_OF("shape.file {}"), 1, "bodies[1].shape.path: must be given"},
    {HOLD("where = select.half_space {}"), 1, "holds[1].where.normal: must be given"},
    {HOLD("motion = motion.rotate {}"), 1, "holds[1].motion.angle: must be given"},
    {HOLD("motion = motion.follow {}"), 1,
     "holds[1].motion: must have either a place or an obstacle, got none"},
    {LOAD("load.force {}"), 1, "loads[1].amount: must be given"},
    {OBSTACLE("obstacle.sphere {}"), 1, "obstacles[1].radius: must be given"},
    {BODY_WITH("turn = { axis = {1, 0, 0} }"), 1,
     "bodies[1].turn: must have either an angle or degrees, got none"},
    {BODY_WITH("turn = { angle = 1, degrees = 1 }"), 1,
     "bodies[1].turn: must have either an angle or degrees, got both"},
    {BODY_WITH("regions = { region { material = " M " } }"), 1,
     "bodies[1].regions[1]: must have either a tag or where, got none"},
    /* Flow, remeshing, contact. */
    {PLASTIC("rate = 1"), 1,
     "bodies[1].material.plastic: must have either yield or yield_stress, got none"},
    {PLASTIC("rate = 1, yield = 1, yield_stress = 1"), 1,
     "bodies[1].material.plastic: must have either yield or yield_stress, got both"},
    {PLASTIC("rate = 1, yield = 1, hardening = 1, hardening_modulus = 1"), 1,
     "bodies[1].material.plastic: must have either hardening or hardening_modulus, got both"},
    {PLASTIC("yield = 1"), 1,
     "bodies[1].material.plastic.rate: must be given with flow \"rate\", in 1/s"},
    {PLASTIC("yield = 1, flow = 'instant', rate = 2"), 1,
     "bodies[1].material.plastic.rate: flow \"instant\" has no rate"},
    {PLASTIC("yield = -1, rate = 1"), 1,
     "bodies[1].material.plastic.yield: must be 0 or more, got -1"},
    {PLASTIC("yield = 1, rate = -1"), 1,
     "bodies[1].material.plastic.rate: must be 0 or more, got -1"},
    {PLASTIC("yield_stress = function(c) return 1 end, rate = 1"), 1,
     "bodies[1].material.plastic.yield_stress: must be a number, got a function"},
    {PLASTIC("yield = 1, rate = 1, norm = 'misses'"), 1,
     "bodies[1].material.plastic.norm: unknown choice \"misses\"; did you mean 'mises'?"},
    {PLASTIC("yield = 1, rate = 1, law = 'linear'"), 1,
     "bodies[1].material.plastic.law: must be one of work, stress, got \"linear\""},
    {PLASTIC("yield = 1, rate = 1, hardening_modulus = 1"), 1,
     "bodies[1].material.plastic.hardening_modulus: needs the norm \"mises\" and the law \"work\""},
    {PLASTIC("yield = 1, rate = 1, norm = 'mises', law = 'stress', hardening_modulus = 1"), 1,
     "bodies[1].material.plastic.hardening_modulus: needs the norm"},
    {MATERIAL_WITH(
         "young = function() return 1 end,\nplastic = plastic { yield = 1, rate = 1, norm "
         "= 'mises', hardening_modulus = 1 }"),
     1, "bodies[1].material.plastic: hardening_modulus needs young and poisson to be numbers"},
    {MATERIAL_WITH("young = 1, plastic = true"), 1,
     "bodies[1].material.plastic: must have either yield or yield_stress, got none"},
    {MATERIAL_WITH("young = 1, plastic = remesh {}"), 1,
     "bodies[1].material.plastic: must be true, false or a table plastic { norm = ..., ... }, got "
     "a remesh"},
    {PLASTIC("yeild = 1"), 1,
     "bodies[1].material.plastic.yeild: unknown key; did you mean 'yield'?"},
    {WITH("remesh = 'locale'"), 1, "remesh: unknown choice \"locale\"; did you mean 'local'?"},
    {WITH("remesh = 2"), 1,
     "remesh: must be true, false or a table remesh { method = ..., ... }, got 2"},
    {REMESH("quality = 1.5"), 1, "remesh.quality: must be above 0 and below 1, got 1.5"},
    {REMESH("every = 0"), 1, "remesh.every: must be from 1 to 1000000, got 0"},
    {REMESH("size_min = 2, size_max = 1"), 1,
     "remesh.size_min: must not be above size_max, 1, got 2"},
    {REMESH("strain_printed = true"), 1, "remesh.strain_printed: needs strain"},
    {REMESH("gradation = 0.5"), 1, "remesh.gradation: must be above 1, or 0, got 0.5"},
    {REMESH("method = 'global', condition = 1"), 1, "remesh.condition: must be above 1, got 1"},
    {REMESH("method = 'global', condition_change = 0.5"), 1,
     "remesh.condition_change: must be above 1, got 0.5"},
    {REMESH("method = 'global', space = 'material'"), 1,
     "remesh.space: the method \"global\" remeshes the world"},
    {REMESH("merge = 0.1"), 1,
     "remesh.merge: needs space = \"world\": bodies have no material in common"},
    {REMESH("method = 'energy', merge = 0.1"), 1,
     "remesh.merge: is only for the methods \"global\" and \"local\""},
    {REMESH("method = 'global', strain = 1"), 1, "remesh.strain: is only for the method \"local\""},
    {REMESH("method = 'global', most_tets = 1e5"), 1,
     "remesh.most_tets: is only for the methods \"local\" and \"energy\""},
    {REMESH("split = 1"), 1, "remesh.split: is only for the method \"energy\""},
    {REMESH("method = 'energy', size = 1"), 1, "remesh.size: is not for the method \"energy\""},
    {REMESH("method = 'energy', space = 'world'"), 1,
     "remesh.space: the method \"energy\" remeshes the material"},
    {REMESH("most_tets = 1.5"), 1, "remesh.most_tets: must be a whole number, got 1.5"},
    {REMESH("most_tets = -1"), 1, "remesh.most_tets: must be 0 or more, got -1"},
    {WITH("contact = contact { friction = -1 }"), 1, "contact.friction: must be 0 or more, got -1"},
    {WITH("contact = contact { stiffness = 0 }"), 1, "contact.stiffness: must be positive, got 0"},
    {WITH("\ncontact = contact { thickness = 1e9 }"), 2,
     "contact.thickness: must not be above the size of body 'body1', 1.73205 m, got 1e+09"},
    {PAIR("a = 'x', b = 'y'"), 1, "contact.pairs[1]: must have a friction or off, got none"},
    {PAIR("a = 'x', off = true"), 1, "contact.pairs[1].b: must be given: name of the other"},
    {PAIR("a = 1, b = 'y', off = true"), 1, "contact.pairs[1].a: must be a text, got 1"},
    {PAIR("a = 'x', b = 'y', friction = -1"), 1,
     "contact.pairs[1].friction: must be 0 or more, got -1"},
    {PAIR("a = 'x', b = 'y', friction = 1, off = true"), 1,
     "contact.pairs[1].friction: must not be given with off"},
    {PAIR("a = 'x', b = 'y', frction = 1"), 1,
     "contact.pairs[1].frction: unknown key; did you mean 'friction'?"},
    {WITH("contact = { pairs = pair {} }"), 1, "contact.pairs: must be a list of pairs, got"},
    {WITH("contact = { pairs = { body {} } }"), 1,
     "contact.pairs[1]: must be a table pair { a = ..., ... }, got a body"},
    {WITH("step = body {}"), 1, "step: must be a table { dt = ..., ... }, got a body"},
    {WITH("velocity_until = 1"), 1, "velocity_until: there is no velocity_field to end"},
    {BODY_WITH("surface = 'fine.ply'"), 1, "bodies[1].surface: must be made by shape.box"},
    {BODY_WITH("surface = shape.file { path = 'a.stl', max_edge = 1 }"), 1,
     "bodies[1].surface.max_edge: a surface is not filled with tets"},
    {BODY_WITH("surface = shape.file { path = 'none.stl' }"), 1, "bodies[1].surface: "},
    {OBSTACLE("obstacle.mesh {}"), 1, "obstacles[1]: must have either a path or a shape, got none"},
    {OBSTACLE("obstacle.mesh { path = 'a.stl', shape = shape.box {} }"), 1,
     "obstacles[1]: must have either a path or a shape, got both"},
    /* Ranges and numbers that are none. */
    {"return scene { duration = -1, bodies = { " BODY " } }", 1,
     "duration: must be positive, got -1"},
    {"return scene { duration = 0, bodies = { " BODY " } }", 1,
     "duration: must be positive, got 0"},
    {"return scene { duration = 1/0, bodies = { " BODY " } }", 1,
     "duration: must be a finite number, got inf"},
    {"return scene { duration = 0/0, bodies = { " BODY " } }", 1,
     "duration: must be a finite number, got "},
    {WITH("gravity = {0, 0, -math.huge}"), 1, "gravity[3]: must be a finite number, got -inf"},
    {WITH("step = { dt = -0.01 }"), 1, "step.dt: must be positive, got -0.01"},
    {WITH("step = { dt = 0.01, dt_min = 0.1 }"), 1,
     "step.dt_min: must not be longer than dt, 0.01 s, got 0.1"},
    {WITH("step = { newton = { iterations = 0 } }"), 1,
     "step.newton.iterations: must be from 1 to 1000000, got 0"},
    {WITH("step = { newton = { tolerance = 1 } }"), 1,
     "step.newton.tolerance: must be from 0 to 0.999, got 1"},
    {WITH("output = { frame = 2 }"), 1,
     "output.frame: must not be longer than the duration, 1 s, got 2"},
    {WITH("output = { frame = 1e-20 }"), 1,
     "output.frame: must be 0 or at least a millionth of the duration, 1 s, got 1e-20"},
    /* Sizes beyond all measure, whatever the key. */
    {WITH("output = { frame = 1e-300 }"), 1, "output.frame: must be 0 or at least 1e-30, got"},
    {WITH("output = { checkpoint = 1e31 }"), 1, "output.checkpoint: must be at most 1e+30 in size"},
    {WITH("step = { dt = 1e-40 }"), 1, "step.dt: must be at least 1e-30, got 1e-40"},
    {WITH("gravity = {0, 0, -1e31}"), 1, "gravity[3]: must be at most 1e+30 in size, got -1e+31"},
    {WITH("step = { dt = 1e-12 }"), 1, "step.dt: must be at least 1e-11 of the duration, 1 s, got"},
    {WITH("step = { dt_min = 1e-16 }"), 1,
     "step.dt_min: must be at least 1e-15 of the duration, 1 s, got 1e-16"},
    {"return scene { duration = 1e7, bodies = { " BODY " } }", 1,
     "output.frame: must be 0 or at least a millionth of the duration, 1e+07 s, got 0.04"},
    {WITH("output = { frame = -1 }"), 1, "output.frame: must be 0 or more, got -1"},
    {MATERIAL_WITH("young = 0"), 1, "bodies[1].material.young: must be positive, got 0"},
    {MATERIAL_WITH("young = 1e5, poisson = 0.5"), 1,
     "bodies[1].material.poisson: must be above -1 and below 0.5, got 0.5"},
    {MATERIAL_WITH("young = 1e5, density = -5"), 1,
     "bodies[1].material.density: must be positive, got -5"},
    {MATERIAL_WITH("young = 1e5, viscosity = -5"), 1,
     "bodies[1].material.viscosity: must be 0 or more, got -5"},
    {BODY_WITH("scale = 0"), 1, "bodies[1].scale: must be positive, got 0"},
    {BODY_WITH("scale = {1, -1, 1}"), 1, "bodies[1].scale[2]: must be positive, got -1"},
    {BODY_WITH("scale = 1e30, at = {1e30, 0, 0}"), 1,
     "must be at most 1e+30 m from 0 where it is placed"},
    {BODY_WITH("turn = { axis = {0, 0, 0}, degrees = 5 }"), 1,
     "bodies[1].turn.axis: must have a length, got {0, 0, 0}"},
    {SHAPE_OF("shape.box { n = -1 }"), 1, "bodies[1].shape.n: must be from 1 to "},
    {SHAPE_OF("shape.bowl { radius = 1, thickness = 0.95 }"), 1, "bodies[1].shape: "},
    {PROBE("with = 'body1'"), 1, "probes[1].with: must have a body beside it, and no point"},
    {PROBE("body = 'body1', with = 'body1'"), 1, "probes[1].with: must be another body than body"},
    {PROBE("body = 'body1', with = 'bodi1'"), 1, "probes[1].with: there is no body \"bodi1\""},
    {PROBE("name = 'tip'"), 1, "probes[1]: must have a body or a point, got none"},
    {PROBE("body = 'bodi1'"), 1,
     "probes[1].body: there is no body \"bodi1\"; did you mean 'body1'?"},
    {PROBE("point = {0, 0}"), 1, "probes[1].point: must be"},
    {PROBE("points = {0, 0, 0}"), 1, "probes[1].points: unknown key; did you mean 'point'?"},
    {WITH("output = { triangles = 1 }"), 1, "output.triangles: must be"},
    {HOLD("from = 2"), 1, "holds[1].from: must be before the end of the scene, 1 s, got 2"},
    {HOLD("from = 0.5, till = 0.5"), 1, "holds[1].till: must be after from, got 0.5 and 0.5"},
    {HOLD("components = 'xx'"), 1,
     "holds[1].components: must be letters of x, y, z, each at most once, got \"xx\""},
    {HOLD("components = ''"), 1, "holds[1].components: must be letters of x, y, z"},
    {HOLD("where = select.sphere { radius = -1 }"), 1,
     "holds[1].where.radius: must be positive, got -1"},
    {HOLD("where = select.box { from = {1, 0, 0}, to = {0, 1, 1} }"), 1,
     "holds[1].where: from must not be beyond to"},
    {HOLD("where = select.cylinder { from = {1, 0, 0}, to = {1, 0, 0}, radius = 1 }"), 1,
     "holds[1].where: from and to must be different points"},
    {HOLD("where = select.half_space { normal = {0, 0, 0} }"), 1,
     "holds[1].where.normal: must have a length"},
    {OBSTACLE("obstacle.plane { normal = {0, 0, 0} }"), 1,
     "obstacles[1].normal: must have a length, got {0, 0, 0}"},
    {OBSTACLE("obstacle.plane { friction = -1 }"), 1,
     "obstacles[1].friction: must be 0 or more, got -1"},
    {OBSTACLE("obstacle.torus { radius = 1, tube = 2 }"), 1,
     "obstacles[1].tube: must be smaller than the radius, 1, got 2"},
    {OBSTACLE("obstacle.box { from = {0, 0, 0}, to = {1, 1, 0} }"), 1,
     "obstacles[1]: to must be beyond from in every direction"},
    {OBSTACLE("obstacle.capsule { from = {0, 0, 0}, to = {0, 0, 0}, radius = 1 }"), 1,
     "obstacles[1]: from and to must be different points"},
    /* Choices and names. */
    {WITH("step = { integrator = 'bdf3' }"), 1,
     "step.integrator: unknown choice \"bdf3\"; did you mean 'bdf2'?"},
    {WITH("step = { integrator = 'runge-kutta-4' }"), 1,
     "step.integrator: must be one of implicit-euler, newmark, bdf2, static, got"},
    {WITH("step = { solver = { backend = 'umfpack' } }"), 1,
     "step.solver.backend: must be one of auto, multifrontal, cholmod, mumps"},
    {MATERIAL_WITH("young = 1, model = 'neo-hokean'"), 1,
     "bodies[1].material.model: unknown choice \"neo-hokean\"; did you mean 'neo-hookean'?"},
    {MATERIAL_WITH("young = 1, model = 'cheese'"), 1, "bodies[1].material.model: must be one of "},
    {MATERIAL_WITH("young = 1, model = 3"), 1, "bodies[1].material.model: must be one of "},
    {WITH("output = { fields = { 'mises', 'stres' } }"), 1,
     "output.fields[2]: unknown choice \"stres\"; did you mean 'stress'?"},
    {HOLD("body = 'body2'"), 1, "holds[1].body: there is no body \"body2\"; did you mean 'body1'?"},
    {HOLD("body = 1"), 1, "holds[1].body: must be the name of a body, got 1"},
    {HOLD("where = select.body { name = 'nobody at all' }"), 1,
     "holds[1].where.name: must be the name of a body, got \"nobody at all\""},
    {HOLD("motion = motion.follow { obstacle = 'floor' }"), 1,
     "holds[1].motion.obstacle: must be the name of an obstacle, got \"floor\""},
    {OBSTACLE("obstacle.plane { name = 'a' }, obstacle.plane { name = 'a' }"), 1,
     "obstacles[2].name: must be different for each obstacle, got \"a\" twice"},
    {"return scene { duration = 1, bodies = { " BODY
     ", body { name = 'body1', shape = shape.box { n "
     "= 1 }, material = " M " } } }",
     1, "bodies[2].name: must be different for each body, got \"body1\" twice"},
    {OBSTACLE("obstacle.plane { name = 'a' }, obstacle.plane { motion = motion.follow { obstacle = "
              "'a' } }"),
     1, "obstacles[2].motion: an obstacle cannot follow an obstacle"},
    /* Files. */
    {SHAPE_OF("shape.file { path = 'absent.mesh' }"), 1, "bodies[1].shape: /nowhere/absent.mesh: "},
    {SHAPE_OF("shape.file { path = '' }"), 1,
     "bodies[1].shape.path: must be the name of a file, got \"\""},
    {SHAPE_OF("shape.file { path = 'a\\0b' }"), 1,
     "bodies[1].shape.path: must be the name of a file"},
    {SHAPE_OF("shape.file { path = 5 }"), 1,
     "bodies[1].shape.path: must be the name of a file, got 5"},
    {OBSTACLE("obstacle.mesh { path = 'absent.stl' }"), 1, "obstacles[1]: /nowhere/absent.stl: "},
    /* The sandbox: what is not there. */
    {RUN("os.execute('touch /tmp/kiln-was-here')"), 1, "'os' is not there"},
    {RUN("io.open('/etc/passwd')"), 1, "'io' is not there"},
    {RUN("require 'os'"), 1, "'require' is not there"},
    {RUN("package.loadlib('x', 'y')"), 1, "'package' is not there"},
    {RUN("dofile '/etc/passwd'"), 1, "'dofile' is not there"},
    {RUN("loadfile '/etc/passwd'"), 1, "'loadfile' is not there"},
    {RUN("debug.getregistry()"), 1, "'debug' is not there"},
    {RUN("load('return 1')"), 1, "attempt to call a table value (global 'load')"},
    {RUN("local f = load.new"), 1, "unknown load.new"},
    {RUN("setmetatable({}, {__gc = function() end})"), 1, "'setmetatable' is not there"},
    {RUN("getmetatable('').__index = nil"), 1, "'getmetatable' is not there"},
    {RUN("rawset(_G, 'x', 1)"), 1, "'rawset' is not there"},
    {RUN("collectgarbage()"), 1, "'collectgarbage' is not there"},
    {RUN("coroutine.wrap(function() while true do end end)()"), 1, "'coroutine' is not there"},
    {RUN("pcall(error)"), 1, "'pcall' is not there"},
    {RUN("next({})"), 1, "'next' is not there"},
    {RUN("string.dump(print)"), 1, "attempt to call a nil value (field 'dump')"},
    {RUN("('x'):find(('a?'):rep(30) .. ('a'):rep(30))"), 1,
     "attempt to call a nil value (method 'find')"},
    {RUN("string.gsub('x', '.', '')"), 1, "attempt to call a nil value (field 'gsub')"},
    {RUN("_G.os.exit(1)"), 1, "'os' is not there"},
    {RUN("math.randomseed(1)"), 1, "attempt to call a nil value (field 'randomseed')"},
    {RUN("table.move({}, 1, 1e15, 2)"), 1, "attempt to call a nil value (field 'move')"},
    {RUN("print(tostring({}))"), 1, "a table has no text"},
    {RUN("local s = string.format('%s', print)"), 1, "a function has no text"},
    {RUN("param('a b', 1)"), 1, "param: a name without blanks"},
    {RUN("param('a')"), 1, "param takes a name and a preset: param(\"a\", 1)"},
    {RUN("for k in pairs { [print] = 1 } do end"), 1,
     "pairs: keys must be numbers or texts, got a function"},
    /* The sandbox: what does not end or takes too much. */
    {RUN("while true do end"), 1, "does not end: stopped after 2 million instructions"},
    {RUN("\nlocal function f() return f() end\nf()"), 2, "does not end: stopped after"},
    {RUN("local function f() return 1 + f() end\nf()"), 1, "stack overflow"},
    {RUN("repeat until false"), 1, "does not end: stopped after"},
    {RUN("\nlocal t = {}\nwhile true do t[#t + 1] = {} end"), 3, "does not end: stopped after"},
    {RUN("\nlocal s = 'x'\nwhile true do s = s .. s end"), 3, "takes too much memory"},
    {RUN("string.rep('x', 1e9)"), 1, "string.rep: a text of more than 1 MiB"},
    {RUN("string.rep('', 1e18)"), 1, "string.rep: a text of more than 1 MiB"},
    {RUN("string.rep('', 1 << 62, 'x')"), 1, "string.rep: a text of more than 1 MiB"},
    {RUN("local t = {}\nfor i = 1, 1e6 do t[i] = ('sixteen letters.'):rep(60000) .. i end"), 2,
     "takes too much memory"},
    {RUN("local t = {}\nfor i = 1, 64 do t[i] = i end\nwhile true do table.sort(t) end"), 3,
     "does not end: "},
    {RUN("local t = table.pack(table.unpack({}, 1, 1e8))"), 1, "too many results to unpack"},
    {RUN("local s = string.format('%99999d', 1)"), 1, "invalid conversion"},
    {RUN("error('my own words')"), 1, "my own words"},
    {RUN("error('without place', 0)"), 1, "without place"},
    {RUN("error({})"), 1, "error(...) was called with a table instead of a text"},
    {RUN("error()"), 1, "error(...) was called with a nil instead of a text"},
    {RUN("local a = nil\n\nlocal b = a.x"), 3, "attempt to index a nil value (local 'a')"},
    {RUN("assert(1 > 2, 'so not')"), 1, "so not"},
    /* Tables that bite their tails, and selections without end. */
    {"local s = scene { duration = 1 }\ns.bodies = { s }\nreturn s", 1,
     "bodies[1]: must be a table body { ... }, got a scene"},
    {"local t = {}\nt[1] = t\nreturn scene { duration = 1, bodies = t }", 3,
     "bodies[1]: has an item [1]; body takes key = value only"},
    {"local s = select.all {} & select.all {}\ns[1] = s\n" HOLD("where = s"), 1,
     "must be at most 100 operators deep"},
    {"local s = select.all {}\nfor i = 1, 60 do s = s | s end\n" HOLD("where = s"), 2,
     "must have at most 10000 parts"},
    {"local s = ~select.all {}\ns[2] = s[1]\n" HOLD("where = s"), 1,
     "must not be changed after it was combined"},
};

static kiln_scene_options options_of(const char *text)
{
    return (kiln_scene_options){.text = text,
                                .text_size = text[0] == 27 ? 4 : strlen(text),
                                .memory = 128 << 20,
                                .instructions = 2000000};
}

START_TEST(bad_scenes_are_refused)
{
    const bad *row = &rows[_i];
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_scene_options options = options_of(row->text);
    kiln_scene_file *file = NULL;
    kiln_error error = {0};
    kiln_status status = kiln_scene_file_load(context, "/nowhere/bad.lua", &options, &file, &error);
    ck_assert_msg(status != KILN_OK, "accepted: %s", row->text);
    ck_assert_ptr_null(file);
    ck_assert_int_ne(status, KILN_ERR_MEMORY);
    ck_assert_str_eq(error.place, "/nowhere/bad.lua");
    ck_assert_msg(strstr(error.message, row->message) != NULL, "\n%s\nwanted: %s\nsaid:   %s",
                  row->text, row->message, error.message);
    ck_assert_msg(error.line == row->line, "\n%s\nline %lld, wanted %d: %s", row->text, error.line,
                  row->line, error.message);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_bytes, 0);
}
END_TEST

typedef struct bad_function {
    const char *text; /* of the load's amount */
    const char *message;
} bad_function;

static const bad_function functions[] = {
    {"function() end",
     "loads[1].amount: the function must return three finite numbers, got nothing"},
    {"function() return nil end",
     "loads[1].amount: the function must return three finite numbers, got nothing"},
    {"function() return 1 end", "must return three finite numbers, got 1"},
    {"function() return 1, 2 end", "must return three finite numbers, got 2 values"},
    {"function() return 1, 2, 3, 4 end", "must return three finite numbers, got 4 values"},
    {"function() return {1, 2} end", "must return three finite numbers, got a table of 2"},
    {"function() return {1, 2, 'x'} end", "must return three finite numbers, got \"x\""},
    {"function() return 0, 0, 0/0 end", "must return three finite numbers, got "},
    {"function() return 0, 1/0, 0 end", "must return three finite numbers, got inf"},
    {"function(t) return t.x, 0, 0 end",
     "loads[1].amount: attempt to index a number value (local 't')"},
    {"function() error('no amount') end", "loads[1].amount: no amount"},
    {"function() while true do end end",
     "loads[1].amount: does not end: stopped after 100 million"},
    {"function() local s = 'x' while true do s = s .. s end end",
     "loads[1].amount: takes too much memory"},
    {"function() return math.random(), 0, 0 end", "math.random works only while the scene is read"},
    {"function() return param('a', 1), 0, 0 end", "param works only while the scene is read"},
    {"function() return os.time(), 0, 0 end", "'os' is not there"},
};

START_TEST(bad_functions_are_named)
{
    const bad_function *row = &functions[_i];
    kiln_context *context = kiln_test_context(1);
    char text[1000];
    snprintf(text, sizeof text, "\n" LOAD("load.force { amount =\n%s }"), row->text);
    kiln_scene_options options = options_of(text);
    kiln_scene_file *file = NULL;
    kiln_error error = {0};
    kiln_status status = kiln_scene_file_load(context, "bad.lua", &options, &file, &error);
    ck_assert_msg(status == KILN_OK, "%s: %s", text, error.message);
    const kiln_scene *scene = kiln_scene_file_scene(file);
    kiln_circumstances at = {.time = 1.0};
    double out[3] = {7, 7, 7};
    for (int again = 0; again < 2; again++) {
        status = kiln_quantity_get(&scene->loads.data[0].amount, &at, out, 3, &error);
        ck_assert_int_eq(status, KILN_ERR_INPUT);
        ck_assert_str_eq(error.place, "bad.lua");
        ck_assert_int_eq(error.line, 3);
        ck_assert_msg(strstr(error.message, row->message) != NULL, "wanted: %s\nsaid:   %s",
                      row->message, error.message);
        ck_assert(out[0] == 7 && out[1] == 7 && out[2] == 7);
        if (strstr(row->message, "does not end"))
            break;
    }
    kiln_scene_file_destroy(file);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(functions_keep_the_bounds_of_their_key)
{
    kiln_context *context = kiln_test_context(1);
    const char *text = MATERIAL_WITH("young = function(c) return 5 - c.t end");
    kiln_scene_options options = options_of(text);
    kiln_scene_file *file = NULL;
    kiln_error error = {0};
    ck_assert_int_eq(kiln_scene_file_load(context, "bad.lua", &options, &file, &error), KILN_OK);
    const kiln_scene_material *m = &kiln_scene_file_scene(file)->materials.data[0];
    ck_assert(m->varies);
    double out;
    kiln_circumstances at = {.time = 1.0};
    ck_assert_int_eq(kiln_quantity_get(&m->young, &at, &out, 1, &error), KILN_OK);
    ck_assert_double_eq(out, 4.0);
    at.time = 6.0;
    ck_assert_int_eq(kiln_quantity_get(&m->young, &at, &out, 1, &error), KILN_ERR_INPUT);
    ck_assert_str_eq(error.message, "bodies[1].material.young: the function must return what is "
                                    "positive, got -1");
    kiln_scene_file_destroy(file);
    kiln_context_destroy(context);
}
END_TEST

/* Found when the world is built: a mesh, and what stands in the scene about it. */
static const bad worlds[] = {
    {PAIR("a = 'body1',\nb = 'bdy1', off = true"), 1,
     "contact.pairs[1].b: there is no body, obstacle or material 'bdy1'; did you mean 'body1'?"},
    {PAIR("a = 'nothing like it', b = 'body1', off = true"), 1,
     "contact.pairs[1].a: there is no body, obstacle or material 'nothing like it'"},
    {WITH("contact = { pairs = { pair { a = 'body1', b = 'obstacle1', friction = 1 },\n"
          "pair { b = 'body1', a = 'obstacle1', off = true } } }, obstacles = { obstacle.plane {} "
          "}"),
     2,
     "contact.pairs[2]: 'obstacle1' and 'body1' must be a pair once, and are one in "
     "contact.pairs[1] already"},
    {WITH("contact = { pairs = { pair { a = 'obstacle1', b = 'obstacle1', off = true } } }, "
          "obstacles = { obstacle.plane {} }"),
     1, "contact.pairs[1]: one of the two must be a body or a material"},
    {WITH("contact = { obstacles = 'points', pairs = { pair { a = 'body1', b = 'obstacle1', "
          "friction = 1 } } }, obstacles = { obstacle.plane { point = {0, 0, -1} } }"),
     1, "contact.pairs[1]: obstacle 'obstacle1' must be a surface to be one of a pair"},
    {HOLD("where = select.sphere { centre = {9, 9, 9}, radius = 1 }"), 1,
     "holds[1]: selects no vertex"},
    {HOLD("where = select.surface {} - select.surface {}"), 1, "holds[1]: selects no vertex"},
    {LOAD("load.pressure { amount = 1, where = select.patch { tag = 77 } }"), 1,
     "loads[1]: selects no surface face"},
    {LOAD("load.body { amount = {1, 0, 0}, where = select.region { tag = 77 } }"), 1,
     "loads[1]: selects no tet"},
    {BODY_WITH("\nregions = {\nregion { tag = 77, material = " M " } }"), 3,
     "bodies[1].regions[1]: no tet of body 'body1' has the tag 77"},
    {WITH("holds = { hold {}, hold { motion = motion.translate { shift = {1, 0, 0} } } }"), 1,
     "holds[2]: contradicts holds[1]"},
    {WITH("holds = { hold { components = 'x' }, hold { components = 'xy', motion = "
          "motion.translate { shift = function(t) return t, 0, 0 end } } }"),
     1, "holds[2]: contradicts holds[1]"},
    {BODY_WITH("position = function(u) return -u.x, u.y, u.z end"), 1,
     "bodies[1]: starts with an inverted or flat tet"},
    {BODY_WITH("position = function(u) return u.x, u.y, 0 end"), 1,
     "bodies[1]: starts with an inverted or flat tet"},
    {BODY_WITH("position = function(u) return u.x, u.y end"), 1,
     "bodies[1].position: the function must return three finite numbers, got 2 values"},
    {BODY_WITH("velocity = function(u) return u.w, 0, 0 end"), 1,
     "bodies[1].velocity: the function must return three finite numbers, got nothing"},
    {MATERIAL_WITH("young = function(c) return c.t end"), 1,
     "bodies[1].material.young: the function must return what is positive, got 0"},
    {SHAPE_OF("shape.file { path = 'flat.mesh' }"), 1, "bodies[1]: "},
    {BODY_WITH("velocity = {0, 0, 1e20}"), 1,
     "bodies[1].velocity: body 'body1' is too fast with 1e+20 m/s"},
    {BODY_WITH("velocity = function(u) return -1e22, u.y, 0 end"), 1,
     "bodies[1].velocity: body 'body1' is too fast with 1e+22 m/s"},
    {BODY_WITH("velocity = {1, 0, 0}, spin = {0, 0, 1e30}"), 1,
     "bodies[1].spin: body 'body1' is too fast with"},
    {WITH("obstacles = { obstacle.plane { point = {0, 0, 9}, normal = {0, 0, 1}, name = 'roof' } "
          "}"),
     1, "bodies[1]: body 'body1' lies wholly inside obstacle 'roof' (obstacles[1])"},
    {WITH("obstacles = { obstacle.plane { point = {0, 0, -9}, normal = {0, 0, 1} }, obstacle.box { "
          "from = {-9, -9, -9}, to = {9, 9, 9} } }"),
     1, "bodies[1]: body 'body1' lies wholly inside obstacle 'obstacle2' (obstacles[2])"},
    {WITH("obstacles = { obstacle.sphere { centre = {99, 0, 0}, radius = 1, inside_out = true } }"),
     1, "bodies[1]: body 'body1' lies wholly inside obstacle 'obstacle1' (obstacles[1])"},
};

/* A tet without volume. */
static void write_flat(const folder *dir)
{
    char path[160];
    FILE *file = fopen(in_folder(dir, "flat.mesh", path), "w");
    ck_assert_ptr_nonnull(file);
    fputs("MeshVersionFormatted 2\nDimension 3\nVertices 4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n1 1 0 "
          "0\nTetrahedra 1\n1 2 3 4 1\nEnd\n",
          file);
    fclose(file);
}

START_TEST(bad_worlds_are_refused)
{
    const bad *row = &worlds[_i];
    kiln_context *context = kiln_test_context(1);
    folder dir = make_folder();
    char path[160];
    write_flat(&dir);
    kiln_scene_options options = options_of(row->text);
    kiln_scene_file *file = NULL;
    kiln_world *world = NULL;
    kiln_error error = {0};
    in_folder(&dir, "bad.lua", path);
    kiln_status status = kiln_scene_file_load(context, path, &options, &file, &error);
    ck_assert_msg(status == KILN_OK, "%s: %s", row->text, error.message);
    status = kiln_world_create(kiln_scene_file_scene(file), &world, &error);
    ck_assert_msg(status == KILN_ERR_INPUT, "%s: %s", row->text, error.message);
    ck_assert_ptr_null(world);
    ck_assert_str_eq(error.place, path);
    ck_assert_msg(strstr(error.message, row->message) != NULL, "\n%s\nwanted: %s\nsaid:   %s",
                  row->text, row->message, error.message);
    ck_assert_msg(error.line == row->line, "\n%s\nline %lld, wanted %d: %s", row->text, error.line,
                  row->line, error.message);
    kiln_scene_file_destroy(file);
    kiln_context_destroy(context);
    remove_folder(&dir);
}
END_TEST

/* What only a run would call: kiln check calls it once. */
static const bad tried[] = {
    {HOLD("motion = motion.rotate { angle = function(t) return t * nil end }"), 1,
     "holds[1].motion.angle: attempt to perform arithmetic on a nil value"},
    {HOLD("motion = motion.translate { shift = function(t) return {t, t} end }"), 1,
     "holds[1].motion.shift: the function must return three finite numbers, got a table of 2"},
    {HOLD("motion = motion.follow { place = function(t, u) return u.x, 1 / (t - 1), 0 end }"), 1,
     "holds[1].motion.place: the function must return three finite numbers, got inf"},
    {LOAD("load.pressure { amount = function(t, u) return '5' end }"), 1,
     "loads[1].amount: the function must return a finite number, got \"5\""},
    {OBSTACLE("obstacle.plane { motion = motion.translate { shift = function() end } }"), 1,
     "obstacles[1].motion.shift: the function must return three finite numbers, got nothing"},
    {WITH("gravity = function(t) return 0, 0, t.z end"), 1,
     "gravity: attempt to index a number value"},
    {WITH("velocity_field = function(t, x) return x end, gravity = function() return 9 end"), 1,
     "gravity: the function must return three finite numbers, got 9"},
    {MATERIAL_WITH("young = function(c) return 1 - 1.5 * c.t end"), 1,
     "bodies[1].material.young: the function must return what is positive, got -0.5"},
    {PLASTIC("yield = function(c) return c.t - 0.75 end, rate = 1"), 1,
     "bodies[1].material.plastic.yield: the function must return what is 0 or more, got -0.75"},
    {PLASTIC("yield = 1, rate = function(c) return 0.75 - c.t end"), 1,
     "bodies[1].material.plastic.rate: the function must return what is 0 or more, got -0.25"},
    {PLASTIC("yield = 1, rate = 1, hardening = function(c) return c end"), 1,
     "bodies[1].material.plastic.hardening: the function must return a finite number"},
    {BODY_WITH("velocity = function(u) return u.x end"), 1,
     "bodies[1].velocity: the function must return three finite numbers, got 0"},
};

START_TEST(functions_can_be_tried)
{
    const bad *row = &tried[_i];
    kiln_context *context = kiln_test_context(1);
    kiln_scene_options options = options_of(row->text);
    kiln_scene_file *file = NULL;
    kiln_error error = {0};
    ck_assert_int_eq(kiln_scene_file_load(context, "bad.lua", &options, &file, &error), KILN_OK);
    ck_assert_int_eq(kiln_scene_try(kiln_scene_file_scene(file), &error), KILN_ERR_INPUT);
    ck_assert_int_eq(error.line, row->line);
    ck_assert_msg(strstr(error.message, row->message) != NULL, "wanted: %s\nsaid:   %s",
                  row->message, error.message);
    kiln_scene_file_destroy(file);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(a_scene_that_is_not_there)
{
    kiln_context *context = kiln_test_context(1);
    kiln_scene_file *file = NULL;
    kiln_error error = {0};
    ck_assert_int_ne(kiln_scene_file_load(context, "/nowhere/at/all.lua", NULL, &file, &error),
                     KILN_OK);
    ck_assert_str_eq(error.place, "/nowhere/at/all.lua");
    ck_assert(error.message[0]);
    kiln_context_destroy(context);
}
END_TEST

/* Texts nested or long beyond reason, for Lua's own parser. */
START_TEST(deep_and_long_texts)
{
    enum { DEPTH = 200000 };
    static const char *const opening[] = {"return ", "x = ", "return f", "return scene { a = ", ""};
    static const char nested[] = {'(', '{', '(', '{', '#'};
    kiln_context *context = kiln_test_context(1);
    char *text = malloc(DEPTH + 100);
    for (int i = 0; i < 5; i++) {
        kiln_scene_file *file = NULL;
        kiln_error error = {0};
        size_t size = strlen(opening[i]);
        memcpy(text, opening[i], size);
        memset(text + size, nested[i], DEPTH);
        text[size + DEPTH] = 0;
        kiln_scene_options options = options_of(text);
        ck_assert_int_eq(kiln_scene_file_load(context, "bad.lua", &options, &file, &error),
                         KILN_ERR_INPUT);
        ck_assert_msg(strstr(error.message, "overflow") || strstr(error.message, "near"), "%s",
                      error.message);
    }
    free(text);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(texts_beyond_the_limit)
{
    size_t size = (16 << 20) + 1;
    kiln_context *context = kiln_test_context(1);
    char *text = malloc(size + 1);
    memset(text, ' ', size);
    text[size] = 0;
    kiln_scene_file *file = NULL;
    kiln_error error = {0};
    kiln_scene_options options = options_of(text);
    ck_assert_int_eq(kiln_scene_file_load(context, "bad.lua", &options, &file, &error),
                     KILN_ERR_INPUT);
    ck_assert_str_eq(error.message, "is too long for a scene: 16777217 bytes, at most 16777216");
    free(text);
    kiln_context_destroy(context);
}
END_TEST

/* Memory so small that not even the language fits, and then a little more each time. */
START_TEST(any_memory_limit_is_an_error)
{
    kiln_context *context = kiln_test_context(1);
    kiln_scene_options options = options_of(WITH(""));
    bool done = false;
    for (size_t memory = 1; memory < 1 << 20 && !done; memory += 401) {
        kiln_scene_file *file = NULL;
        kiln_error error = {0};
        options.memory = memory;
        done = kiln_scene_file_load(context, "bad.lua", &options, &file, &error) == KILN_OK;
        ck_assert_msg(done || (error.status == KILN_ERR_INPUT && strstr(error.message, "memory")),
                      "%zu bytes: %s", memory, error.message);
        kiln_scene_file_destroy(file);
    }
    ck_assert(done);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("bad scenes");
    TCase *texts = kiln_test_case(suite, "texts");
    tcase_add_loop_test(texts, bad_scenes_are_refused, 0, (int)(sizeof rows / sizeof rows[0]));
    tcase_add_test(texts, a_scene_that_is_not_there);
    tcase_add_test(texts, deep_and_long_texts);
    tcase_add_test(texts, texts_beyond_the_limit);
    tcase_add_test(texts, any_memory_limit_is_an_error);
    TCase *calls = kiln_test_case(suite, "functions");
    tcase_add_loop_test(calls, bad_functions_are_named, 0,
                        (int)(sizeof functions / sizeof functions[0]));
    tcase_add_loop_test(calls, bad_worlds_are_refused, 0, (int)(sizeof worlds / sizeof worlds[0]));
    tcase_add_loop_test(calls, functions_can_be_tried, 0, (int)(sizeof tried / sizeof tried[0]));
    tcase_add_test(calls, functions_keep_the_bounds_of_their_key);
    return suite;
}
