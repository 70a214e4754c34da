// search: prints the lines of files that contain a text, like grep -nF (<filch/filch.hpp>).  A
// group runs one callable per file, a channel collects the lines, and an exception ends the
// program.
#include <filch/filch.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

struct match {
    std::size_t file; // index
    std::size_t line;
    std::string text;
};

void search_file(const char *name, std::size_t index, const std::string &wanted,
                 filch::channel<match> &found)
{
    std::ifstream file(name);
    std::string text;

    if (!file)
        throw std::runtime_error(std::string(name) + ": cannot be opened");
    for (std::size_t line = 1; std::getline(file, text); line++)
        if (text.find(wanted) != std::string::npos)
            found.send({index, line, text});
    if (file.bad())
        throw std::runtime_error(std::string(name) + ": cannot be read");
}

std::vector<match> search_files(const std::string &wanted, char **names, std::size_t n)
{
    filch::channel<match> found(64);
    std::vector<match> all;
    filch::fiber collector([&] {
        for (match &m : found)
            all.push_back(std::move(m));
    });
    struct closer { // also after an exception: the collector ends, and then its destructor returns
        filch::channel<match> &channel;
        ~closer()
        {
            channel.close();
        }
    };

    {
        closer at_end{found};
        filch::group files;
        for (std::size_t i = 0; i < n; i++)
            files.run([&, i] { search_file(names[i], i, wanted, found); });
        files.wait();
    }
    collector.join();
    std::sort(all.begin(), all.end(), [](const match &a, const match &b) {
        return a.file != b.file ? a.file < b.file : a.line < b.line;
    });
    return all;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 3) {
        std::fprintf(stderr, "usage: search TEXT FILE...\n");
        return 2;
    }
    try {
        const std::vector<match> all =
            search_files(argv[1], argv + 2, static_cast<std::size_t>(argc - 2));
        for (const match &m : all)
            std::printf("%s:%zu:%s\n", argv[2 + m.file], m.line, m.text.c_str());
        return all.empty() ? 1 : 0;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "search: %s\n", e.what());
        return 2;
    }
}
