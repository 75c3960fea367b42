/** Every call of a recorded port in this test file, such as `ledger.begin`, in the order in which they began. */
const calls: string[] = []

/** What reads, or keeps books of its own about who was here when. */
const READ = /\.(find|list|usage|count|report|measure|head|open|check|record)/

/** The same port, all of whose members are methods; their calls are recorded. */
export function recordCalls<T extends object>(name: string, port: T): T {
  const recorded = Object.entries(port as Record<string, Method>).map(([method, call]) => [
    method,
    (...args: never[]) => {
      calls.push(`${name}.${method}`)
      return call(...args)
    },
  ])
  return Object.fromEntries(recorded) as T
}

type Method = (...args: never[]) => unknown

/** How many calls there have been, to ask later what came after them. */
export function countCalls(): number {
  return calls.length
}

export function callsSince(count: number): readonly string[] {
  return calls.slice(count)
}

/** Those that may have changed what the service keeps. */
export function changesSince(count: number): readonly string[] {
  return callsSince(count).filter((call) => !READ.test(call))
}
