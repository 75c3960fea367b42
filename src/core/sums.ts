/** Adds to the owner's sum, and removes a sum of 0, so that the map holds only owners who have something. */
export function addTo(sums: Map<string, number>, owner: string, amount: number): void {
  const sum = (sums.get(owner) ?? 0) + amount
  if (sum > 0) sums.set(owner, sum)
  else sums.delete(owner)
}
