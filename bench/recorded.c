#include "bench/recorded.h"

const kiln_recorded kiln_recorded_random_cube = {
    10401, {65, 31.8, 122.5, 0.577, 8000}, {0.95, 17.6, 147.5, 0.304, 11800}};
const kiln_recorded kiln_recorded_ball = {
    9934, {97, 32.1, 120.2, 0.608, 7900}, {0.41, 23.5, 142.1, 0.390, 9500}};
const kiln_recorded kiln_recorded_twisted_bar = {
    7345, {275, 27.2, 126.3, 0.527, 8100}, {0.69, 18.4, 150.7, 0.289, 7000}};
const kiln_recorded kiln_recorded_animal = {
    12577, {216, 14.0, 139.9, 0.211, 17400}, {2.2, 13.2, 159.8, 0.204, 30300}};
const kiln_recorded kiln_recorded_large_cube = {
    109000, {900, 31.8, 122.5, 0.577, 0}, {9.5, 17.1, 151.8, 0.209, 116000}};
