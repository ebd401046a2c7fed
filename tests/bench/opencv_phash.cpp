// The peer: OpenCV's imread + PHash over a list of files; prints CPU and wall milliseconds of each.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include <opencv2/core.hpp>
#include <opencv2/img_hash.hpp>
#include <opencv2/imgcodecs.hpp>

static void hash(const std::string &path)
{
    cv::Mat code, image = cv::imread(path);
    cv::img_hash::pHash(image, code);
    if (code.empty())
        std::exit(2);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    std::ifstream list(argv[1]);
    std::vector<std::string> paths;
    for (std::string path; std::getline(list, path);)
        paths.push_back(path);
    cv::setNumThreads(1);
    hash(paths.at(0)); // to load what is loaded late
    int repeats = std::atoi(argv[2]);
    auto wall = std::chrono::steady_clock::now();
    std::clock_t cpu = std::clock();
    for (int i = 0; i < repeats; i++)
        for (const auto &path : paths)
            hash(path);
    double count = static_cast<double>(paths.size()) * repeats;
    double cpu_ms = 1e3 * static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
    std::chrono::duration<double, std::milli> wall_ms = std::chrono::steady_clock::now() - wall;
    std::printf("%f %f\n", cpu_ms / count, wall_ms.count() / count);
    return 0;
}
