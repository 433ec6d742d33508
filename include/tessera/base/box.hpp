#pragma once
/// Pixels and boxes of pixels, half-open, (y, x).

#include <algorithm>
#include <cstdint>
#include <ostream>

namespace tessera {

/// A point or a displacement in whole object pixels.
struct Pixel {
  int y = 0;
  int x = 0;
  friend constexpr bool operator==(const Pixel&, const Pixel&) = default;
  friend constexpr Pixel operator+(Pixel a, Pixel b) { return {a.y + b.y, a.x + b.x}; }
  friend constexpr Pixel operator-(Pixel a, Pixel b) { return {a.y - b.y, a.x - b.x}; }
};

/// A real-valued point or displacement; the unit is in the variable's name.
struct Vec2 {
  double y = 0;
  double x = 0;
  friend constexpr bool operator==(const Vec2&, const Vec2&) = default;
  friend constexpr Vec2 operator+(Vec2 a, Vec2 b) { return {a.y + b.y, a.x + b.x}; }
  friend constexpr Vec2 operator-(Vec2 a, Vec2 b) { return {a.y - b.y, a.x - b.x}; }
  friend constexpr Vec2 operator*(double factor, Vec2 a) { return {factor * a.y, factor * a.x}; }
  friend constexpr Vec2 operator*(Vec2 a, double factor) { return factor * a; }
  friend constexpr Vec2 operator/(Vec2 a, double divisor) { return {a.y / divisor, a.x / divisor}; }
};

constexpr Vec2 as_vec2(Pixel pixel) {
  return {static_cast<double>(pixel.y), static_cast<double>(pixel.x)};
}

/// Height and width in pixels.
struct Shape2 {
  int h = 0;
  int w = 0;
  std::int64_t size() const { return static_cast<std::int64_t>(h) * w; }
  friend bool operator==(const Shape2&, const Shape2&) = default;
};

/// Pixels y in [begin.y, end.y), x in [begin.x, end.x). Empty when end <= begin in either
/// direction.
struct Box {
  Pixel begin;
  Pixel end;

  static Box at(Pixel corner, Shape2 shape) { return {corner, corner + Pixel{shape.h, shape.w}}; }
  int height() const { return std::max(0, end.y - begin.y); }
  int width() const { return std::max(0, end.x - begin.x); }
  Shape2 shape() const { return {height(), width()}; }
  std::int64_t area() const { return shape().size(); }
  bool empty() const { return area() == 0; }
  bool contains(const Box& other) const {
    return other.empty() || (other.begin.y >= begin.y && other.begin.x >= begin.x &&
                             other.end.y <= end.y && other.end.x <= end.x);
  }
  bool contains(Pixel p) const {
    return p.y >= begin.y && p.y < end.y && p.x >= begin.x && p.x < end.x;
  }
  friend bool operator==(const Box&, const Box&) = default;
};

inline Box intersection(const Box& a, const Box& b) {
  const Box both{{std::max(a.begin.y, b.begin.y), std::max(a.begin.x, b.begin.x)},
                 {std::min(a.end.y, b.end.y), std::min(a.end.x, b.end.x)}};
  return both.empty() ? Box{} : both;
}

/// The smallest box around both; an empty box adds nothing.
inline Box hull(const Box& a, const Box& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {{std::min(a.begin.y, b.begin.y), std::min(a.begin.x, b.begin.x)},
          {std::max(a.end.y, b.end.y), std::max(a.end.x, b.end.x)}};
}

/// `by_px` larger on every side.
inline Box grown(const Box& box, int by_px) {
  return {box.begin - Pixel{by_px, by_px}, box.end + Pixel{by_px, by_px}};
}

inline Box moved(const Box& box, Pixel by) {
  return {box.begin + by, box.end + by};
}

inline std::ostream& operator<<(std::ostream& out, const Box& box) {
  return out << "[" << box.begin.y << ":" << box.end.y << ", " << box.begin.x << ":" << box.end.x
             << "]";
}

}  // namespace tessera
