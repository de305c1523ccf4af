#include "prolog/slurm/carry_out.hpp"

#include <chrono>
#include <optional>
#include <random>
#include <thread>

#include "prolog/slurm/slurm_api.hpp"

namespace gdrcheck::slurm {
namespace {

using act::Action;
using act::MarkerChange;
using act::Step;

class Errand {
  public:
    explicit Errand(const act::Order& order) : order_(order) {}

    order::Answer run() {
        const auto action = find_action();
        if (!action) return without_slurm(action.error());
        return carry_out(*action);
    }

  private:
    [[nodiscard]] order::Answer without_slurm(const Error& error) const {
        return {act::exit_code_without_slurm(order_.program, order_.intent), MarkerChange::keep, true, error.what};
    }

    void wait_jitter() const {
        std::random_device device;
        std::uniform_int_distribution<int> milliseconds(0, order::longest_jitter_ms);
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds(device)));
    }

    Result<Action> find_action() {
        auto node = load_node(order_.node);
        if (!node) return tl::unexpected(node.error());
        std::optional<act::ClusterView> cluster;
        if (act::needs_count(order_, *node)) {
            wait_jitter();
            auto loaded = load_cluster();
            if (!loaded) return tl::unexpected(loaded.error());
            cluster = std::move(*loaded);
            // somebody may have drained the node while we waited
            node = load_node(order_.node);
            if (!node) return tl::unexpected(node.error());
        }
        node_ = *node;
        job_ = {.view = {.gone = true}, .whole = {}};
        if (order_.job_id != 0 && order_.program == act::Program::prolog) {
            auto job = load_job(order_.job_id);
            if (!job) return tl::unexpected(job.error());
            job_ = *job;
        }
        return act::decide(order_, node_, job_.view, cluster);
    }

    order::Answer carry_out(const Action& action) {
        order::Answer answer{action.exit_code, action.marker, true, action.why};
        for (const auto step : action.steps) {
            if (step == Step::settle) {
                if (auto other = settle(answer)) return *other;
            } else if (const auto done = carry_out(step, action, answer); !done) {
                return without_slurm(done.error());
            }
        }
        return answer;
    }

    /// An answer when the race is lost.
    std::optional<order::Answer> settle(order::Answer& answer) {
        std::this_thread::sleep_for(std::chrono::milliseconds(order::settle_ms));
        const auto cluster = load_cluster();
        if (!cluster) {
            answer.settled = false;  // the health program asks again
            return std::nullopt;
        }
        if (!act::lost_race(order_, *cluster)) return std::nullopt;
        const auto node = load_node(order_.node);
        if (!node || !node->drained || node->reason != order_.reason) return std::nullopt;
        return carry_out(act::give_way(order_, *node, cluster->nodes));
    }

    /// An error ends the errand.
    Result<void> carry_out(Step step, const Action& action, order::Answer& answer) {
        switch (step) {
            case Step::drain:
                return drain_node(order_.node, action.reason);
            case Step::drain_keeping_reason:
                return drain_node(order_.node, {});
            case Step::resume:
                return resume_node(order_.node);
            case Step::comment:
                note(answer, set_comment(order_.node, action.comment));
                break;
            case Step::notify:
                note(answer, notify_job(order_.job_id, action.message));
                break;
            case Step::requeue:
                requeue(answer);
                break;
            case Step::kill:
                kill(answer);
                break;
            case Step::settle:
                break;
        }
        return {};
    }

    void requeue(order::Answer& answer) {
        const auto end = requeue_job(job_.whole);
        if (end && *end == JobEnd::not_supported) return kill(answer);
        answer.exit_code = 1;
        note(answer, end);
    }

    void kill(order::Answer& answer) {
        const auto end = kill_job(job_.whole);
        answer.exit_code = end ? 0 : 1;  // not killed: Slurm has to keep the job from starting
        note(answer, end);
    }

    /// What only adds to the log when it goes wrong.
    template <class T>
    static void note(order::Answer& answer, const Result<T>& result) {
        if (!result) answer.why += "; " + result.error().what;
    }

    const act::Order& order_;
    act::NodeView node_;
    Job job_;
};

}  // namespace

order::Answer carry_out(const act::Order& order) {
    return Errand(order).run();
}

}  // namespace gdrcheck::slurm
