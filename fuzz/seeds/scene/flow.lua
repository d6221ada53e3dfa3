local dough = material { young = 1e4, plastic = plastic { yield = function(c) return 500 + c.stress end,
  rate = function(c) return 10 / (1 + c.t) end, law = 'stress', hardening = -0.1 } }
local steel = material { young = 2e11, plastic = plastic { norm = 'mises', flow = 'instant',
  yield_stress = 4e8, hardening_modulus = 1e8 } }
return scene { duration = 1, velocity_field = function(t, x) return x end, velocity_until = 0.5,
  remesh = remesh { method = 'local', space = 'material', quality = 0.2, every = 2, size = 0.5,
    deformation = 0.2, strain = 4, strain_printed = true, size_min = 0.1, size_max = 1,
    isotropic = true, gradation = 1.3, most_tets = 1e5 },
  contact = contact { bodies = true, self = true, thickness = 0.01, stiffness = 2, friction = 0.3 },
  bodies = { body { shape = shape.box { n = 1 }, material = dough, surface = shape.box { n = 2 } },
    body { shape = shape.box { n = 1 }, material = steel } },
  obstacles = { obstacle.mesh { shape = shape.polygon { points = '0,0 2,0 2,1 1,1 1,2 0,2' } } },
  output = { fields = { 'plastic_strain', 'hardening' } } }
