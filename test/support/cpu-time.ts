/** What `work` takes of the processor in this thread, in milliseconds; other programs on the machine don't count. */
export function cpuMsOf(work: () => void): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
