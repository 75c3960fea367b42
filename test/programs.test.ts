import { execFile } from 'node:child_process'
import { describe, expect, it } from 'vitest'

/** The commands of package.json that take options and are no part of the service. */
const PROGRAMS = ['simulate', 'crash', 'hostile', 'fuzz', 'bench']

describe.each(PROGRAMS)('npm run %s', (name) => {
  it('says with --help what it takes, and does nothing', async () => {
    const { code, stdout, stderr } = await run(name, '--help')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(new RegExp(`^usage: npm run ${name} -- \\[.*\\n  --`))
  })

  it('says which option there is not, and what it takes', async () => {
    const { code, stdout, stderr } = await run(name, '--nonsense')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(
      new RegExp(`^Unknown option '--nonsense'.*\\nusage: npm run ${name} -- `),
    )
  })
})

interface Ran {
  readonly code: number | string | null | undefined
  readonly stdout: string
  readonly stderr: string
}

function run(name: string, option: string): Promise<Ran> {
  const words = ['scripts/run.mjs', name, option]
  return new Promise((resolve) => {
    execFile(process.execPath, words, { timeout: 20_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr })
    })
  })
}
