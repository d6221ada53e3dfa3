-- A soft ball falls on a floor.
return scene {
    duration = 0.5,
    gravity = {0, 0, -9.81},
    bodies = { body {
        shape = shape.ball { radius = 0.1, h = 0.05 },
        at = {0, 0, 0.4},
        material = material { model = "stable-neo-hookean", young = 2e4, poisson = 0.4, density = 1000 },
    } },
    obstacles = { obstacle.plane { point = {0, 0, 0}, normal = {0, 0, 1}, friction = 0.5 } },
    step = { dt = 0.005 },
}
