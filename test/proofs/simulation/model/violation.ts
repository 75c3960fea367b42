/** An invariant of ARCHITECTURE.md that did not hold. */
export class Violation extends Error {
  readonly invariant: string

  constructor(invariant: string, message: string) {
    super(`${invariant}: ${message}`)
    this.name = 'Violation'
    this.invariant = invariant
  }
}

/** Throws a violation unless `holds`. */
export function demand(holds: boolean, invariant: string, message: string): asserts holds {
  if (!holds) throw new Violation(invariant, message)
}
