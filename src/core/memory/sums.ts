/** Adds to the user's sum, and removes a sum of 0, so that the map holds only users who have something. */
export function addTo(sums: Map<string, number>, userId: string, amount: number): void {
  const sum = (sums.get(userId) ?? 0) + amount
  if (sum > 0) sums.set(userId, sum)
  else sums.delete(userId)
}
