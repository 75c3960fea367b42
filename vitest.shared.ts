import type { ViteUserConfig } from 'vitest/config'

/** What the gate (vitest.config.ts) and the proof (vitest.proof.config.ts) have in common. */
export const shared = {
  // Most test files wait for sockets, timers and child processes. CONTRIBUTING.md has what other numbers cost.
  maxWorkers: 4,
  // A process for each file would load the same modules again and again. Modules keep no state, so nothing leaks.
  isolate: false,
  // Each writer thread strips the types of what it loads, by WebAssembly. Where many threads of a process come and go,
  // V8 (Node 24.21) can crash when it frees such code: SIGSEGV in `WasmEngine::FreeDeadCode`.
  execArgv: ['--no-wasm-code-gc'],
  // Fails a test file whose services logged a secret.
  setupFiles: ['test/support/runner/secret-watch-setup.ts'],
  reporters: ['default', './test/support/runner/run-reporter.ts'],
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // A second is little on a machine that does other things as well.
  expect: { poll: { timeout: 15_000 } },
} satisfies ViteUserConfig['test']
