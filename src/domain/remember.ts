// What is made of an object is made once, and kept for as long as the object is.

/** Makes a function that calls `make` only the first time that it gets an object. The object must not be changed afterwards. */
export function remember<From extends object, To>(make: (from: From) => To): (from: From) => To {
  const known = new WeakMap<From, To>();
  return (from) => {
    const made = known.get(from);
    if (made !== undefined) return made;
    const fresh = make(from);
    known.set(from, fresh);
    return fresh;
  };
}
