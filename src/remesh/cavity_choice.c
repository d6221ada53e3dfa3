/* The best sub-cavity, greedily by ascending score.
 *
 * An item is a tet that a choice may leave in the mesh: a node that stays, or the tet the point
 * makes with the face from a node that goes to one that stays. Items are met worst first, and each
 * is ruled out if what was ruled out before allows it. All constraints are implications "if u goes
 * then v goes" (v a parent of u; or the item of arc u -> v is ruled out: the arc is glued) and
 * facts about single nodes, so ruling an item out is possible exactly when its two ends are not
 * already decided the other way; that makes the greedy choice the lexicographic optimum. */
#include "remesh/cavity.h"

#include <string.h>

enum { UNDECIDED, GOES, STAYS };
enum { ITEM_NODE = 4 }; /* item = node*8 + face, or node*8 + ITEM_NODE */

/* An item's score and name in one number that orders like the score: its bits as a double between 1
 * and 4, the lowest replaced by the name. Scores that differ by less than 1e-12 count as equal. */
typedef uint64_t item;
enum { NAME_BITS = 11 };

static item item_of(double score, uint32_t what)
{
    double shifted = score < -1.0 ? 1.0 : score > 1.0 ? 3.0 : score + 2.0;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    return bits >> NAME_BITS << NAME_BITS | what;
}

typedef struct choice {
    kiln_dig *dig;
    uint32_t undecided;
    uint8_t state[KILN_DIG_ROOM];
    uint8_t glued[KILN_DIG_ROOM]; /* bits of the node's faces */
    uint32_t stack_count;
    uint16_t stack[KILN_DIG_ROOM];
    uint32_t item_count;
    item items[5 * KILN_DIG_ROOM]; /* a heap, least first */
} choice;

static void sift_down(item *items, uint32_t count, uint32_t at)
{
    item moved = items[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && items[child + 1] < items[child];
        if (items[child] >= moved)
            break;
        items[at] = items[child];
    }
    items[at] = moved;
}

static void decide(choice *c, uint32_t node, uint8_t state)
{
    if (c->state[node] != UNDECIDED)
        return;
    c->state[node] = state;
    c->undecided--;
    c->stack[c->stack_count++] = (uint16_t)node;
}

/* The arc from `parent` to `node` is glued. */
static bool is_glued_from(const choice *c, uint32_t parent, uint32_t node)
{
    for (int k = 0; k < 4; k++)
        if (c->glued[parent] >> k & 1 && c->dig->node[parent].child[k] == node)
            return true;
    return false;
}

/* Everything that follows from what was decided. */
static void follow(choice *c)
{
    while (c->stack_count > 0) {
        uint32_t at = c->stack[--c->stack_count];
        const kiln_dig_node *node = &c->dig->node[at];
        uint8_t state = c->state[at];
        for (int i = 0; i < node->parents; i++)
            if (state == GOES || is_glued_from(c, node->parent[i], at))
                decide(c, node->parent[i], state);
        for (int k = 0; k < 4; k++) {
            if (!(node->seen >> k & 1) || node->child[k] == KILN_DIG_OUTSIDE)
                continue;
            if (state == STAYS || c->glued[at] >> k & 1)
                decide(c, node->child[k], state);
        }
    }
}

static void rule_out(choice *c, uint32_t what)
{
    uint32_t from = what / 8, face = what % 8;
    if (face == ITEM_NODE) {
        decide(c, from, GOES);
        follow(c);
        return;
    }
    uint32_t to = c->dig->node[from].child[face];
    uint8_t beyond = to == KILN_DIG_OUTSIDE ? STAYS : c->state[to];
    if (c->state[from] == GOES && beyond == UNDECIDED)
        decide(c, to, GOES);
    else if (c->state[from] == UNDECIDED && beyond == STAYS)
        decide(c, from, STAYS);
    else if (c->state[from] == UNDECIDED && beyond == UNDECIDED)
        c->glued[from] |= (uint8_t)(1u << face);
    follow(c);
}

static void list_items(choice *c)
{
    for (uint32_t i = 0; i < c->dig->count; i++) {
        const kiln_dig_node *node = &c->dig->node[i];
        for (uint32_t k = 0; k < 4; k++)
            if (node->seen >> k & 1)
                c->items[c->item_count++] = item_of(node->weight[k], 8 * i + k);
        if (i >= c->dig->seeds)
            c->items[c->item_count++] = item_of(node->own, 8 * i + ITEM_NODE);
    }
    for (uint32_t i = c->item_count / 2; i-- > 0;)
        sift_down(c->items, c->item_count, i);
}

void kiln_dig_choose(kiln_dig *dig)
{
    choice c;
    c.dig = dig;
    c.undecided = dig->count;
    c.stack_count = c.item_count = 0;
    for (uint32_t i = 0; i < dig->count; i++)
        c.state[i] = c.glued[i] = 0;
    for (uint32_t i = 0; i < dig->seeds; i++)
        decide(&c, i, GOES);
    follow(&c);
    if (c.undecided > 0)
        list_items(&c);
    while (c.undecided > 0) {
        item least = c.items[0];
        c.items[0] = c.items[--c.item_count];
        sift_down(c.items, c.item_count, 0);
        rule_out(&c, least & ((1u << NAME_BITS) - 1));
    }
    for (uint32_t i = 0; i < dig->count; i++)
        dig->node[i].in = c.state[i] == GOES;
}
