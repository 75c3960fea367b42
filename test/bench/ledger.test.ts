import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('the benchmark of the ledger measures the source that it is given', async () => {
  const size = ['--users', '2', '--seconds', '0.2', '--rounds', '1', '--put', '0']
  const args = ['bench/ledger.ts', '--engine', 'sqlite', '--source', 'src', ...size]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(stdout).toMatch(
    /^sqlite src users=2: \d+ uploads\/s \(\d+ to \d+\), [\d.]+ ms CPU each\n$/,
  )
})
