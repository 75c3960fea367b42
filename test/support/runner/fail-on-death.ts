/**
 * What a test has its `Writer` do when the thread dies: without it all would be as well, and be no test of the thread.
 */
export function failOnDeath(cause: unknown): never {
  throw new Error('The thread of the database has died.', { cause })
}
