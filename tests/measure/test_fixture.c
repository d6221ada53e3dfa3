/* Settings of fixtures as one text. */
#include "measure/fixture.h"
#include "support.h"

static size_t tets_of(const char *shape, const char *settings)
{
    kiln_soup soup;
    kiln_error error = {0};
    kiln_context *context = kiln_test_context(1);
    ck_assert_msg(kiln_fixture_soup(context, shape, settings, &soup, &error) == KILN_OK, "%s",
                  error.message);
    size_t tets = soup.tets.count;
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
    return tets;
}

START_TEST(words_without_a_name_belong_to_the_setting_before)
{
    size_t first = tets_of("polygon", "points=0,0 1,0 1,1 0,1 depth=0.5 h=0.3");
    ck_assert_uint_gt(first, 20);
    ck_assert_uint_eq(first, tets_of("polygon", "depth=0.5 h=0.3 points=0,0 1,0 1,1 0,1"));
    ck_assert_uint_ne(first, tets_of("polygon", "points=0,0 1,0 1,1 0,1; 0.3,0.3 0.7,0.3 0.7,0.7 "
                                                "0.3,0.7 depth=0.5 h=0.3"));
    ck_assert_uint_eq(tets_of("box", "nx=2 ny=3 nz=1"), 36);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("fixture");
    TCase *all = kiln_test_case(suite, "fixture");
    tcase_add_test(all, words_without_a_name_belong_to_the_setting_before);
    return suite;
}
