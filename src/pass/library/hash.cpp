// How std::unordered_map and its kin decide that they need more buckets. See README.md in this folder.
#include <unordered_map>

namespace std::__detail {

using Policy = _Prime_rehash_policy;

// The table of primes is the library's: it is asked through a policy of our own, and what it says is written
// here, where it is seen.
size_t next_buckets(const Policy* policy,
                    size_t wanted) __asm__("_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm.cleave");

size_t next_buckets(const Policy* policy, size_t wanted) {
  Policy own(policy->_M_max_load_factor);
  const size_t buckets = own._M_next_bkt(wanted);
  policy->_M_next_resize = own._M_next_resize;
  return buckets;
}

pair<bool, size_t> Policy::_M_need_rehash(size_t buckets, size_t elements, size_t more) const {
  const size_t wanted = elements + more;
  if (wanted <= _M_next_resize) return {false, 0};
  // A table that has never grown starts with room for eleven.
  const size_t room = _M_next_resize == 0 && wanted < 11 ? 11 : wanted;
  const double least = room / static_cast<double>(_M_max_load_factor);
  if (least < static_cast<double>(buckets)) {
    _M_next_resize = static_cast<size_t>(buckets * static_cast<double>(_M_max_load_factor));
    return {false, 0};
  }
  const size_t grown = static_cast<size_t>(least) + 1, twice = buckets * _S_growth_factor;
  return {true, next_buckets(this, grown > twice ? grown : twice)};
}

}  // namespace std::__detail
