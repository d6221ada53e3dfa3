--set bodies[1].material.young=2e5
local n = param('n', 2)
return scene { duration = 1, bodies = { body { shape = shape.box { n = n }, material = material { young = 1e5 } } } }
