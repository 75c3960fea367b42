import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { allOf, filesIn } from '../documents/pages.ts'
import { findProgram } from '../support/servers/local-server.ts'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'

const execute = promisify(execFile)

/** Commands that must find no fault. */
const CHECKS = [
  'actionlint',
  'zizmor --offline --no-progress .github',
  'check-jsonschema --builtin-schema vendor.renovate .github/renovate.json',
  'check-jsonschema --builtin-schema vendor.github-actions .github/actions/ci/action.yml',
  'check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml',
  'check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/feature.yml',
]

describe.each(CHECKS)('%s', async (line) => {
  const [program = '', ...words] = line.split(' ')
  const skipped = isSkipped(await whyMissing(findProgram(program)))

  it.skipIf(skipped)('finds no fault', async () => {
    await expect(execute(await findProgram(program), words)).resolves.toBeDefined()
  })
})

const workflows = (await filesIn('.github')).filter((path) => path.endsWith('.yml'))
const texts = await Promise.all(workflows.map((path) => readFile(path, 'utf8')))

describe('the workflows', () => {
  it('name each action by its commit and its version', () => {
    const used = texts.flatMap((text) => allOf(/^\s*(?:- )?uses: (?!\.\/)(.*)$/gm, text))
    expect(used.length).toBeGreaterThan(5)
    expect(used.filter((action) => !/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([])
  })

  it('build their programs in the versions that .ci/run has', async () => {
    const pinned = async (path: string) => allOf(PINNED, await readFile(path, 'utf8'))
    const inCi = await pinned('.ci/run')
    const byName = new Map(inCi.map((pin) => [nameOf(pin), pin]))
    const published = await pinned('.github/workflows/release.yml')
    const shared = published.filter((pin) => byName.has(nameOf(pin)))
    expect(shared.map(nameOf)).toEqual(['helm.sh/helm/v4/cmd/helm', 'build', 'hatchling'])
    expect(shared.filter((pin) => byName.get(nameOf(pin)) !== pin)).toEqual([])
  })
})

const PINNED = /([\w./-]+@v[\w.-]+|[a-z-]+==[\d.]+)/g

function nameOf(pin: string): string {
  return pin.split(/@|==/)[0] ?? ''
}
