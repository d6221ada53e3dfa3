/* One row per suite: name, function (in bench_<name>.c). */
