import { execFile } from 'node:child_process'
import { beforeAll, describe, expect, it } from 'vitest'
import { allOf, readPages } from '../documents/pages.ts'
import { KEEP_COMPILED } from '../support/service/compiled.ts'

const pages = await readPages()

/** The commands of package.json that take options and are no part of the service. */
const PROGRAMS = ['simulate', 'crash', 'hostile', 'fuzz', 'bench']

describe.each(PROGRAMS)('npm run %s', (name) => {
  let help: Ran
  beforeAll(async () => {
    help = await run(name, '--help')
  })

  it('says with --help what it takes, and does nothing', () => {
    const { code, stdout, stderr } = help
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

  it('has every option that the documents name', () => {
    const lines = pages.flatMap(({ text }) => text.split('\n'))
    const own = lines.filter((line) => line.includes(`npm run ${name} `))
    const named = own.flatMap((line) => allOf(/(--[a-z]+)/g, line))
    expect(own).not.toEqual([])
    expect(named.filter((option) => !help.stdout.includes(`  ${option} `))).toEqual([])
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
    const env = { ...process.env, ...KEEP_COMPILED }
    execFile(process.execPath, words, { timeout: 20_000, env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr })
    })
  })
}
