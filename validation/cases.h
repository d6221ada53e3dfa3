/* One row per case: area, name, part in `--quick`, what it looks at. The function
 * kiln_validate_<name> is in <area>.c. QUICK cases take seconds, BRIEF ones have a version that
 * does, SLOW ones have no part in it; every area has a case that is not SLOW. */
KILN_VALIDATION_CASE(geometry, predicates, QUICK,
                     "exact signs on coplanar and cospherical lattice points")
KILN_VALIDATION_CASE(geometry, matrices, QUICK,
                     "signed SVD, eigenvalues, logarithm, polar decomposition")
KILN_VALIDATION_CASE(geometry, clipping, QUICK, "overlaps with a partition add up to the whole")
KILN_VALIDATION_CASE(mesh, boxes, QUICK, "K(n) and KM(n): counts, volume, features")
KILN_VALIDATION_CASE(mesh, solids, QUICK,
                     "volumes of ball, cylinder and torus, and how they converge")
KILN_VALIDATION_CASE(operators, M1, QUICK, "quality of known tets; every operator keeps the mesh")
KILN_VALIDATION_CASE(improve, improve, QUICK,
                     "improvement: nothing worse, the shape kept, quality reached")
KILN_VALIDATION_CASE(transfer, M2, QUICK,
                     "volume, momentum and linear fields over a hundred remeshes")
KILN_VALIDATION_CASE(transfer, M3, QUICK,
                     "stress of a turned block: offsets carried with their rotation")
KILN_VALIDATION_CASE(transfer, M4, QUICK, "a jump of plastic offsets after fifty local remeshes")
KILN_VALIDATION_CASE(inflight, inflight, QUICK,
                     "meshes that change in flight: momentum, angular momentum, centre, energy")
KILN_VALIDATION_CASE(project, M6, QUICK, "L2 projection: integrals, residuals, no inversion")
KILN_VALIDATION_CASE(refine, F3, QUICK,
                     "reversible refinement: counts, angles, and back bit for bit")
KILN_VALIDATION_CASE(domain, domain, SLOW, "whole-domain remesh: volume, quality, surface")
KILN_VALIDATION_CASE(domain, domain_again, SLOW, "75 whole-domain remeshes in a row")
KILN_VALIDATION_CASE(domain, domain_motions, SLOW,
                     "whole-domain remeshes anywhere and in any position")
KILN_VALIDATION_CASE(domain, merge_motions, SLOW,
                     "bodies become one in random positions, to 1e6 sizes from the origin")
KILN_VALIDATION_CASE(domain, hard_meshes, SLOW,
                     "thin, slotted, nested and far bodies: bounded time and tets, nothing worse")
KILN_VALIDATION_CASE(domain, merge, QUICK, "M2: two cubes that overlap become one")
KILN_VALIDATION_CASE(fill, fill_mend, QUICK, "surfaces with cracks, turned and double triangles")
KILN_VALIDATION_CASE(fill, fill_envelope, BRIEF,
                     "surfaces broken at random: filled, and within their envelope")
KILN_VALIDATION_CASE(fill, fill_holes, BRIEF, "surfaces with holes wider than their envelope")
KILN_VALIDATION_CASE(determinism, threads, QUICK, "one thread or several: the same bits")
KILN_VALIDATION_CASE(determinism, rollback, QUICK, "a change taken back leaves the same bits")
KILN_VALIDATION_CASE(determinism, renumbering, QUICK,
                     "compaction and reordering change numbers only")
KILN_VALIDATION_CASE(files, files, QUICK, "write and read back: the same bits")
KILN_VALIDATION_CASE(statics, E1, QUICK,
                     "patch tests: every model reproduces a uniform deformation")
KILN_VALIDATION_CASE(statics, E2, QUICK,
                     "cantilever: the discrete answer to 1e-5, and its convergence")
KILN_VALIDATION_CASE(motion, E3, QUICK, "first bending frequency, lumped and consistent mass")
KILN_VALIDATION_CASE(statics, E4, SLOW, "elastica: a beam bent far by a dead load")
KILN_VALIDATION_CASE(statics, E5, QUICK, "torsion of a square bar with free warping")
KILN_VALIDATION_CASE(statics, E6, QUICK, "manufactured solution: orders of convergence")
KILN_VALIDATION_CASE(stretch, E7, QUICK, "neo-Hookean cube: uniaxial, equibiaxial, shear")
KILN_VALIDATION_CASE(stretch, E8, QUICK, "corotated cube: uniaxial, shear, quarter turn")
KILN_VALIDATION_CASE(motion, E9, QUICK,
                     "integrators on an oscillator and on the axial mode of a bar")
KILN_VALIDATION_CASE(motion, E10, QUICK, "momentum of a block that flies and spins")
KILN_VALIDATION_CASE(stretch, E11, QUICK, "Cook's membrane")
KILN_VALIDATION_CASE(follow, E12, QUICK, "a damped block keeps turning as an undamped one does")
KILN_VALIDATION_CASE(follow, E13, QUICK, "pressure that follows: a free block, a beam bent far")
KILN_VALIDATION_CASE(follow, E14, BRIEF, "pressure in a hollow sphere: small and large strain")
KILN_VALIDATION_CASE(spin, tumble, BRIEF, "R1: a stiff box that tumbles turns over in time")
KILN_VALIDATION_CASE(spin, squeezed, BRIEF,
                     "E13: a pressure that begins at once turns nothing that spins")
KILN_VALIDATION_CASE(reactions, reactions, QUICK,
                     "forces and torques of obstacles and holds: weight, moment, momentum")
KILN_VALIDATION_CASE(enright, M5, BRIEF,
                     "Enright test on the mesh alone: a ball drawn out and back")
KILN_VALIDATION_CASE(enright, M5_run, SLOW,
                     "Enright test on an elastic ball: drawn out, back, let go")
KILN_VALIDATION_CASE(plastic, P1, QUICK,
                     "stress relaxation of a cube that is held, three hardening laws")
KILN_VALIDATION_CASE(plastic, P2, QUICK, "creep of a cube under a constant force")
KILN_VALIDATION_CASE(plastic, P3, QUICK, "volume over ten thousand plastic updates")
KILN_VALIDATION_CASE(springback, P4, BRIEF, "a bar bent past yield springs back by the right part")
KILN_VALIDATION_CASE(energy, energy_beam, QUICK,
                     "a cantilever whose mesh is judged by energy: better with fewer vertices")
KILN_VALIDATION_CASE(energy, energy_cook, BRIEF,
                     "Cook's membrane judged by energy: 1 % of the rise, a fifth of the vertices")
KILN_VALIDATION_CASE(energy, energy_hertz, BRIEF,
                     "a rigid ball in a block whose mesh is judged by energy: force over approach")
KILN_VALIDATION_CASE(energy, energy_wave, SLOW,
                     "a wave along a rod and the mesh with it: energy over vertices")
KILN_VALIDATION_CASE(limit_load, limit_load, BRIEF,
                     "limit loads of a tube and a bar, in at most 15 iterations a step")
KILN_VALIDATION_CASE(taylor, P5, BRIEF, "Taylor bar: copper against a wall")
KILN_VALIDATION_CASE(bars, P6, SLOW, "a bar twisted by a turn, remeshed, let go: nothing is lost")
KILN_VALIDATION_CASE(bars, bar_world, QUICK, "the same bar meshed in the world: much is")
KILN_VALIDATION_CASE(bars, bars_flow, SLOW, "bars that flow: the more they do the more twist stays")
KILN_VALIDATION_CASE(bars, bar_two, QUICK, "a bar half elastic, half plastic")
KILN_VALIDATION_CASE(settle, mesh_rests, QUICK, "a beam that has come to rest keeps its mesh")
KILN_VALIDATION_CASE(settle, mesh_buckled, BRIEF,
                     "columns that have buckled into themselves and are at rest keep their mesh")
KILN_VALIDATION_CASE(clay, clay_screw, BRIEF,
                     "clay twisted by three turns becomes a screw, its mesh follows by itself")
KILN_VALIDATION_CASE(clay, clay_others, SLOW,
                     "other bars of clay, other turns: the mesh follows as well")
KILN_VALIDATION_CASE(flow, flow10k, BRIEF,
                     "ten thousand steps of flow and remeshing: nothing drifts or grows")
KILN_VALIDATION_CASE(detect, C1, QUICK, "continuous detection: known times of meeting")
KILN_VALIDATION_CASE(collide, collide, BRIEF,
                     "two bodies meet and part: momentum, distance, no crossing")
KILN_VALIDATION_CASE(collide, blows, BRIEF,
                     "bodies that meet gain nothing: steps, layers, stiffness, friction")
KILN_VALIDATION_CASE(collide, C10, BRIEF,
                     "two balls: energy, momentum and angular momentum, steps and layers")
KILN_VALIDATION_CASE(pressed, clearance, BRIEF,
                     "blocks on a plane and on each other keep their clearance, and the gap of C2")
KILN_VALIDATION_CASE(
    pressed, hard, BRIEF,
    "a load far too large for the stiffness: adaptive, gaps stay, and it is as fast")
KILN_VALIDATION_CASE(pressed, led, BRIEF,
                     "a held bar sweeps a block along in long steps, none of which fails")
KILN_VALIDATION_CASE(pairs, pairs, BRIEF,
                     "friction of single pairs on a slope, who sees nothing, forces between bodies")
KILN_VALIDATION_CASE(impact, impact, QUICK,
                     "a block bounces without friction: its energy, turned and rescaled")
KILN_VALIDATION_CASE(contact, C2, BRIEF, "what a pressure leaves of the gap before an obstacle")
KILN_VALIDATION_CASE(contact, C5, BRIEF, "a bar hits a wall: time, stress, rebound, energy")
KILN_VALIDATION_CASE(contact, C6, BRIEF, "a block on an incline: how it creeps, how it slides")
KILN_VALIDATION_CASE(contact, C7, BRIEF, "how far a block slides")
KILN_VALIDATION_CASE(contact, C8, BRIEF, "a block slides over inner edges of a flat obstacle")
KILN_VALIDATION_CASE(invariants, C9, BRIEF,
                     "remeshing inside the step: every change gains, nothing crosses")
KILN_VALIDATION_CASE(contact, C11, BRIEF, "a sliding impact: friction's part of the impulse")
KILN_VALIDATION_CASE(pin, C12, BRIEF, "a pin that is thinner than the cells it is pressed into")
KILN_VALIDATION_CASE(hertz, C3, BRIEF, "Hertz: a ball pressed on a plane, force and radius")
KILN_VALIDATION_CASE(hertz, C4, BRIEF, "Hertz: a ball bounces off a plane, time and depth")
KILN_VALIDATION_CASE(hertz, C14, BRIEF,
                     "Hertz: two balls, places counted once: force over approach")
KILN_VALIDATION_CASE(weights, C13, BRIEF, "a block on a body cut otherwise, places counted once")
KILN_VALIDATION_CASE(erleben, C8_set, BRIEF, "tips, edges and faces that meet exactly")
KILN_VALIDATION_CASE(extremes, extremes, BRIEF,
                     "long steps, a fast ball, a flat one, hard between soft: none gives up")
KILN_VALIDATION_CASE(liquid, L1, QUICK, "water at rest in a tank with slip at its walls")
KILN_VALIDATION_CASE(liquid, L2, QUICK, "the pressure in a drop at rest: Young and Laplace")
KILN_VALIDATION_CASE(liquid, L3, BRIEF, "the period of a drop that swings a little: Rayleigh")
KILN_VALIDATION_CASE(liquid, L4, BRIEF, "the drop of the paper: period, volume, centre")
KILN_VALIDATION_CASE(liquid, L5, BRIEF, "what damps a drop: the integrator, its viscosity")
KILN_VALIDATION_CASE(liquid, L6, QUICK, "a shear wave decays as its viscosity says")
KILN_VALIDATION_CASE(liquid, L7, QUICK, "flow between plates: Poiseuille")
KILN_VALIDATION_CASE(liquid, L8, QUICK, "how fast a viscous column begins to sink")
KILN_VALIDATION_CASE(liquid, L9, BRIEF, "the period of sloshing in a tank")
KILN_VALIDATION_CASE(liquid, liquid_energy, BRIEF,
                     "a high wave and a closed whirl, remeshed: no energy from nothing")
KILN_VALIDATION_CASE(wetting, L12, BRIEF, "drops on plates at their contact angles")
KILN_VALIDATION_CASE(wetting, L13, SLOW, "the height of a puddle")
KILN_VALIDATION_CASE(wetting, L16, BRIEF, "drops at rest stay at rest")
KILN_VALIDATION_CASE(meet, drops_meet, BRIEF, "drops that meet bounce as one does on a plate")
KILN_VALIDATION_CASE(meet, drops_join, BRIEF, "drops that meet become one, where that is asked for")
KILN_VALIDATION_CASE(shell, L17, BRIEF,
                     "water in an elastic shell of the same mesh, pressed and thrown")
KILN_VALIDATION_CASE(wet_solid, L18, BRIEF, "liquid on a solid of its own mesh that it wets")
KILN_VALIDATION_CASE(saddle, saddle, BRIEF,
                     "iterations of a liquid's linear solves, whatever its size and viscosity")
KILN_VALIDATION_CASE(saddle, closed, QUICK, "liquids that walls close in, and squeeze")
KILN_VALIDATION_CASE(liquid, L10, SLOW, "the front of a dam break: Martin and Moyce")
KILN_VALIDATION_CASE(liquid, L14, BRIEF, "a thread of water: Rayleigh and Plateau")
KILN_VALIDATION_CASE(inlets, inlets, BRIEF, "what flows in, what flows out, what is left of it")
KILN_VALIDATION_CASE(drip, L15, BRIEF, "a drop falls from a tube: Harkins and Brown")
KILN_VALIDATION_CASE(heat, H1, SLOW, "a bar warmed at its end")
KILN_VALIDATION_CASE(heat, H2, SLOW, "a wave of heat in an insulated cube: order")
KILN_VALIDATION_CASE(heat, H3, QUICK, "a slab and a small cube cool in air")
KILN_VALIDATION_CASE(heat, H4, SLOW, "a front that melts, without and with latent heat")
KILN_VALIDATION_CASE(heat, H5, QUICK, "stress of what is kept from expanding")
KILN_VALIDATION_CASE(heat, H6, QUICK, "what is compressed grows warm")
