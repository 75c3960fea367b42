import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../support/service/program.ts'

const GOOD = JSON.stringify({ success: true, numPassedTests: 3, numFailedTests: 0 })

it('adds up reports in which all tests passed', async () => {
  expect(await summaryOf({ gate: GOOD, proof: GOOD })).toMatchObject({
    status: 0,
    lastLine: '6 passed, 0 failed',
  })
})

it.each([
  ['that is missing', undefined],
  ['that is empty', ''],
  ['that breaks off', GOOD.slice(0, -5)],
])('counts a report %s as a failure, and still closes with the sums', async (_what, gate) => {
  expect(await summaryOf({ gate, proof: GOOD })).toMatchObject({
    status: 1,
    lastLine: '3 passed, 1 failed',
  })
})

it('names each test and file that failed, with its message, right above the last line', async () => {
  const failed = {
    name: join(process.cwd(), 'test/a.test.ts'),
    status: 'failed',
    assertionResults: [
      { status: 'passed', fullName: 'adds' },
      { status: 'failed', fullName: 'subtracts', failureMessages: ['Error: 1 is not 2'] },
    ],
  }
  const unloaded = { name: join(process.cwd(), 'test/b.test.ts'), status: 'failed' }
  const gate = { success: false, numPassedTests: 1, numFailedTests: 1 }
  const testResults = [failed, unloaded]
  const { text } = await summaryOf({ gate: JSON.stringify({ ...gate, testResults }) })
  expect(text).toBe(
    'Failed: test/a.test.ts: subtracts\n  Error: 1 is not 2\nFailed: test/b.test.ts\n1 passed, 2 failed\n',
  )
})

it('names and counts a failed step of which no report says more', async () => {
  const gate = JSON.stringify({ success: false, numPassedTests: 1, numFailedTests: 1 })
  const { status, text } = await summaryOf({ gate, proof: GOOD }, ['npm run check', 'gate'])
  expect({ status, text }).toEqual({
    status: 1,
    text: 'Failed: npm run check\n4 passed, 2 failed\n',
  })
  expect(await summaryOf({ gate: GOOD }, ['gate'])).toMatchObject({
    status: 1,
    text: 'Failed: gate\n3 passed, 1 failed\n',
  })
})

/** Runs the script on reports of that content, of which none is written for `undefined`. */
async function summaryOf(
  reports: Readonly<Record<string, string | undefined>>,
  failedSteps: readonly string[] = [],
): Promise<{
  readonly status: number | null
  readonly text: string
  readonly lastLine: string | undefined
}> {
  await using opened = new AsyncDisposableStack()
  const folder = await temporaryFolder(opened)
  for (const [name, text] of Object.entries(reports)) {
    if (text !== undefined) await writeFile(join(folder, name), text)
  }
  const paths = Object.keys(reports).map((name) => join(folder, name))
  const words = ['scripts/test-summary.mjs', failedSteps.join('\n'), ...paths]
  const { status, stdout } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  return { status, text: stdout, lastLine: stdout.trimEnd().split('\n').at(-1) }
}
