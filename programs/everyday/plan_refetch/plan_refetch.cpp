// Billing from plans in a registry; plans are replaced, never changed.
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

class Plan {
 public:
  Plan(int price, int quota) : price_(price), quota_(quota) {}
  int price() const { return price_; }
  int quota() const { return quota_; }

 private:
  const int price_;
  const int quota_;
};

class PlanRegistry {
 public:
  void set(const std::string& customer, std::shared_ptr<const Plan> plan) {
    std::lock_guard<std::mutex> lock(mutex_);
    plans_[customer] = std::move(plan);
  }
  std::shared_ptr<const Plan> find(const std::string& customer) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return plans_.at(customer);
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Plan>> plans_;
};

struct Invoice {
  int price;
  int quota;
};

class Billing {
 public:
  explicit Billing(const PlanRegistry& registry) : registry_(registry) {}
  Invoice invoice(const std::string& customer) const {
#ifdef FIXED
    const auto plan = registry_.find(customer);
    return {plan->price(), plan->quota()};
#else
    const int price = registry_.find(customer)->price();
    const int quota = registry_.find(customer)->quota();
    return {price, quota};
#endif
  }

 private:
  const PlanRegistry& registry_;
};

int main() {
  PlanRegistry registry;
  registry.set("acme", std::make_shared<Plan>(10, 100));
  Invoice bad{0, 0};
  std::thread sales([&registry] {
    for (int i = 2; i <= 4; i++) registry.set("acme", std::make_shared<Plan>(10 * i, 100 * i));
  });
  std::thread biller([&] {
    Billing billing(registry);
    for (int i = 0; i < 4; i++) {
      Invoice invoice = billing.invoice("acme");
      if (invoice.quota != 10 * invoice.price) bad = invoice;
    }
  });
  sales.join();
  biller.join();
  if (bad.price != 0) {
    std::printf("wrong: price %d for a quota of %d\n", bad.price, bad.quota);
    return 1;
  }
  std::puts("all invoices right");
  return 0;
}
