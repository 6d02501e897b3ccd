#include "scenarios/families/families.hpp"
namespace lockstep::scenarios {
FamilyPlane plane_of(const FamilyStory& story, const models::locks::Catalogue&, const FamilyParameter& x,
                     const FamilyParameter& y, const FamilyOptions&) {
  return {story.property, x, y, {}, false, "not yet"};
}
}
