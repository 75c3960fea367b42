import { readFileSync } from 'node:fs'
import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { SliceSequencer } from './test/support/runner/slice-sequencer.ts'
import { KEEP_COMPILED } from './test/support/service/compiled.ts'

const SERVICES = ['test/support/service/services.ts']

const UNIT = {
  name: 'unit',
  include: ['test/**/*.test.ts'],
  exclude: ['test/**/*.{integration,proof}.test.ts'],
}

/** A busy machine takes ten times as long. */
const TIMEOUTS = { testTimeout: 120_000, hookTimeout: 120_000 }

/** The gate, which `npm test` runs and CI on every landing. */
const gate: ViteUserConfig['test'] = {
  ...TIMEOUTS,
  projects: [
    {
      extends: true,
      test: UNIT,
    },
    {
      extends: true,
      test: {
        name: 'integration',
        include: ['test/**/*.integration.test.ts'],
        globalSetup: SERVICES,
      },
    },
  ],
}

/** The part of the gate for a first look, `npm test -- --fast`: without what starts processes or takes long. */
const fast: ViteUserConfig['test'] = {
  ...TIMEOUTS,
  ...UNIT,
  exclude: [
    ...UNIT.exclude,
    'test/{clients,deploy,log,monitoring,process,proofs,scripts,tracing}/**',
    'test/{http/embedded,http/server,object-store/s3}/**',
  ],
}

/** There is nothing to upgrade from before the first release. */
const { commit: before } = JSON.parse(
  readFileSync('test/proofs/upgrade/released-before.json', 'utf8'),
) as { readonly commit: string | null }

/** The proof, which takes long by its nature: `npm run proof`, or a part of it with `--slice N/M`. */
const proof: ViteUserConfig['test'] = {
  name: 'proof',
  include: ['test/**/*.proof.test.ts'],
  exclude: before === null ? ['test/proofs/upgrade/**'] : [],
  globalSetup: SERVICES,
  sequence: { sequencer: SliceSequencer },
  // Far more than any takes: what is ended by its limit goes on beside the next ones, with its clock and its load.
  testTimeout: 1_200_000,
  hookTimeout: 1_200_000,
}

const MODES: Readonly<Record<string, ViteUserConfig['test']>> = { proof, fast }

export default defineConfig(({ mode }) => ({
  test: {
    // Most test files wait for sockets, timers and child processes. docs/development/testing.md has what other numbers
    // cost.
    maxWorkers: 4,
    // A process for each file would load the same modules again and again. Modules keep no state, so nothing leaks.
    isolate: false,
    env: {
      // Also halves the time in which each service starts its writer thread.
      ...KEEP_COMPILED,
      // The proof sees the pages in the browser that users have.
      HEADLESS_SHELL: mode === 'proof' ? '' : '1',
    },
    // Each writer thread strips the types of what it loads, by WebAssembly. Where many threads of a process come and go,
    // V8 (Node 24.21) can crash when it frees such code: SIGSEGV in `WasmEngine::FreeDeadCode`.
    execArgv: ['--no-wasm-code-gc'],
    // Fails a test file whose services logged a secret.
    setupFiles: ['test/support/runner/secret-watch-setup.ts'],
    reporters: ['default', './test/support/runner/run-reporter.ts'],
    // A second is little on a machine that does other things as well.
    expect: { poll: { timeout: 15_000 } },
    ...(MODES[mode] ?? gate),
  },
}))
