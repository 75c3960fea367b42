import { relative } from 'node:path'
import type { UserConsoleLog } from 'vitest'
import type { Reporter, TestModule } from 'vitest/node'
import { NOT_RUN } from '../servers/needs.ts'

const MAX_FILES = 20

/** Ends a run with its slowest files, and with what could not be run on this machine and why. */
export default class RunReporter implements Reporter {
  readonly #missing = new Set<string>()

  onUserConsoleLog({ content }: UserConsoleLog): void {
    for (const line of content.split('\n')) if (line.startsWith(NOT_RUN)) this.#missing.add(line)
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const { project } of modules) {
      for (const reason of project.getProvidedContext().missingServices ?? [])
        this.#missing.add(NOT_RUN + reason)
    }
    const lines = modules
      .map((module) => ({ seconds: secondsOf(module), path: relative('.', module.moduleId) }))
      .sort((one, other) => other.seconds - one.seconds)
      .slice(0, MAX_FILES)
      .map(({ seconds, path }) => `${seconds.toFixed(1).padStart(8)} s  ${path}`)
    if (lines.length > 1) console.log(['\nSlowest files:', ...lines].join('\n'))
    if (this.#missing.size > 0) console.log(['', ...this.#missing].join('\n'))
  }
}

function secondsOf(module: TestModule): number {
  const { collectDuration, duration, environmentSetupDuration, prepareDuration, setupDuration } =
    module.diagnostic()
  const total =
    collectDuration + duration + environmentSetupDuration + prepareDuration + setupDuration
  return total / 1000
}
