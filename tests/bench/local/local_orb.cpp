// local_orb ORIGINALS PAIRS FOLDER...: what OpenCV's ORB finds of the edits of local_recall, two
// pictures at a time: 500 points each, matches with a ratio under .8, a similarity by RANSAC. It is
// told which original to look at; local_recall searches all. FOLDER may be a list, as there.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include <opencv2/calib3d.hpp>
#include <opencv2/features2d.hpp>

extern "C" {
#include "parts.h"
#include "pictures.h"
}

namespace
{

constexpr int POINTS = 500;
constexpr size_t LEAST_INLIERS = 10;
constexpr float MOST_RATIO = .8f;

struct orb_points {
    std::vector<cv::KeyPoint> points;
    cv::Mat codes;
};

double orb_seconds;
size_t orb_pictures;

double cpu_seconds()
{
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

orb_points orb_points_of(const struct image &image)
{
    static const cv::Ptr<cv::ORB> orb = cv::ORB::create(POINTS);
    cv::Mat grey(image.height, image.width, CV_8UC1);
    for (size_t i = 0; i < grey.total(); i++)
        grey.data[i] = clamp_byte(pixel_luma(image.pixels[i]));
    orb_points out;
    const double begin = cpu_seconds();
    orb->detectAndCompute(grey, cv::noArray(), out.points, out.codes);
    orb_seconds += cpu_seconds() - begin;
    orb_pictures++;
    return out;
}

size_t orb_inliers(const orb_points &query, const orb_points &item)
{
    std::vector<std::vector<cv::DMatch>> nearest;
    std::vector<cv::Point2f> from, to;
    std::vector<uchar> inliers;
    if (query.points.size() < 2 || item.points.size() < 2)
        return 0;
    cv::BFMatcher(cv::NORM_HAMMING).knnMatch(query.codes, item.codes, nearest, 2);
    for (const auto &two : nearest) {
        if (two.size() < 2 || two[0].distance >= MOST_RATIO * two[1].distance)
            continue;
        from.push_back(item.points[static_cast<size_t>(two[0].trainIdx)].pt);
        to.push_back(query.points[static_cast<size_t>(two[0].queryIdx)].pt);
    }
    if (from.size() < LEAST_INLIERS)
        return 0;
    cv::estimateAffinePartial2D(from, to, inliers, cv::RANSAC, 5);
    return static_cast<size_t>(cv::countNonZero(inliers));
}

void print_edit(const struct picture_list &list, size_t originals, const struct part_edit &edit)
{
    const size_t step = list.count / originals;
    size_t found = 0, shown = 0, shown_found = 0;
    for (size_t i = 0; i < originals; i++) {
        const size_t at = i * step;
        struct image in = pictures_load(list.paths[at]), others[3];
        struct random random = random_seeded(at, edit.name, "");
        for (size_t k = 0; k < 3; k++)
            others[k] = pictures_load(list.paths[(at + (k + 1) * (list.count / 4)) % list.count]);
        struct image made = edit.apply(&in, others, &random);
        const bool is_found = orb_inliers(orb_points_of(made), orb_points_of(in)) >= LEAST_INLIERS;
        const bool is_shown = part_shows_something(edit.is_crop ? &made : &in);
        found += is_found;
        shown += is_shown;
        shown_found += is_shown && is_found;
        image_free(&made);
        image_free(&in);
        for (auto &other : others)
            image_free(&other);
    }
    std::printf("%-28s %5.1f %%  %5.1f %% of %zu that show something\n", edit.name,
                100. * static_cast<double>(found) / static_cast<double>(originals),
                100. * static_cast<double>(shown_found) / static_cast<double>(shown ? shown : 1),
                shown);
    std::fflush(stdout);
}

// Pairs of pictures that stand far from each other in the list.
void print_unrelated(const struct picture_list &list, size_t pairs)
{
    size_t matched = 0;
    for (size_t i = 0; i < pairs; i++) {
        const size_t a = i * 7919 % list.count, b = (a + list.count / 3 + i) % list.count;
        struct image one = pictures_load(list.paths[a]), other = pictures_load(list.paths[b]);
        if (a != b && one.pixels && other.pixels)
            matched += orb_inliers(orb_points_of(one), orb_points_of(other)) >= LEAST_INLIERS;
        image_free(&one);
        image_free(&other);
    }
    std::printf("unrelated: %zu of %zu pairs matched\n", matched, pairs);
}

} // namespace

int main(int argc, char **argv)
{
    struct picture_list list = {};
    if (argc < 4) {
        std::fputs("usage: local_orb ORIGINALS PAIRS FOLDER...\n", stderr);
        return 2;
    }
    for (int i = 3; i < argc; i++)
        pictures_list(argv[i], &list);
    pictures_order(&list);
    size_t originals = static_cast<size_t>(std::atoi(argv[1]));
    originals = originals < list.count ? originals : list.count;
    cv::setNumThreads(1);
    for (int edit = 0; originals && edit < part_edit_count; edit++)
        print_edit(list, originals, part_edits[edit]);
    if (list.count)
        print_unrelated(list, static_cast<size_t>(std::atoi(argv[2])));
    std::printf("%.1f ms a picture\n",
                1e3 * orb_seconds / static_cast<double>(orb_pictures ? orb_pictures : 1));
    return 0;
}
