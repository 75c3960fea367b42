import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { FORMS } from '../../src/cli/help.ts'
import { meaningOf } from '../../src/cli/options.ts'
import { formOf } from '../../src/cli/usage.ts'
import { ACTIONS, WHEN_FULL } from '../../src/core/auth/scope.ts'
import { FILE_ORDERS } from '../../src/core/files/listing.ts'
import { OPERATOR_ROLES } from '../../src/core/operators/operator.ts'
import { runCommand } from './run-command.ts'

/** Fails if the command opens anything. */
async function helpOf(args: string): Promise<string> {
  const nothing = () => Promise.reject(new Error('Nothing is to be opened.'))
  const { code, out, err } = await runCommand(args === '' ? [] : args, nothing)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return out
}

describe('the help', () => {
  it.each(['', 'help', '--help', '-h', 'help frobnicate', 'frobnicate --help'])(
    'has a line for each command: %j',
    async (args) => {
      const out = await helpOf(args)
      const lines = out.split('\n').filter((line) => line.startsWith('  '))
      const calls = lines.map((line) => line.trim().split('  ')[0])
      const expected = FORMS.map(({ usage }) => usage.replace(/ \[?--.*/, ''))
      expect(calls).toEqual(expected)
      expect(new Set(lines.map((line) => /^ {2}.*? {2,}/.exec(line)?.[0].length)).size).toBe(1)
      expect(out).toContain('<command> --help')
    },
  )

  it('has serve and doctor before all other commands', () => {
    const forms = FORMS.slice(0, 2).map((form) => formOf(form).words.join(' '))
    expect(forms).toEqual(['serve', 'doctor'])
    expect(FORMS.slice(2)).toEqual(COMMANDS)
  })
})

describe('the help on a group', () => {
  it.each(['tokens --help', 'help tokens', 'tokens frobnicate -h'])(
    'has its commands, and no others: %j',
    async (args) => {
      const [usage, , ...lines] = (await helpOf(args)).split('\n')
      expect(usage).toBe('usage: cloud-repo tokens <command>')
      expect(lines).toEqual([
        expect.stringMatching(/^ {2}tokens issue <user_id> {14}issue an access token/),
        expect.stringMatching(/^ {2}tokens list <user_id> {15}list the access tokens/),
        expect.stringMatching(/^ {2}tokens revoke <user_id> <token_id> {2}revoke an access token$/),
      ])
    },
  )
})

describe('the help on a command', () => {
  it.each(['verify --help', 'verify -h', 'help verify', 'verify alice --deep --help'])(
    'has its usage, its summary and its options: %j',
    async (args) => {
      const out = await helpOf(args)
      expect(out).toMatch(/^usage: cloud-repo verify \[user_id\] .*\n\ncompare quotas.*\n\n {2}--/)
      expect(optionsIn(out)).toEqual(expect.arrayContaining(['deep', 'sample', 'json']))
    },
  )

  it.each(FORMS)('says what each option of $usage means', async (form) => {
    const { words, options } = formOf(form)
    const given = optionsIn(await helpOf(`${words.join(' ')} --help`))
    const common = words[0] === 'serve' ? [] : ['json']
    expect(given).toEqual([...Object.keys(options), ...common])
  })

  it.each([
    ['tokens issue', [...ACTIONS, ...WHEN_FULL, '90min', 'camera-17/']],
    ['files list', [...FILE_ORDERS, '1 to 1000']],
    ['devices add', ['all, own', '2GiB', 'DEVICE_MODELS']],
    ['grants add', ['2GiB', 'RFC 3339']],
    ['links change', ['none', 'RFC 3339']],
    ['operators add', OPERATOR_ROLES],
  ])('says which values the options of %s take', async (command, values) => {
    const out = await helpOf(`${command} --help`)
    for (const value of values) expect(out).toContain(value)
  })

  it('has a meaning of its own for an option that means something else there', () => {
    const meanings = ['users list', 'tokens issue', 'files list', 'history list'].map((command) =>
      meaningOf('prefix', command.split(' ')),
    )
    expect(new Set(meanings).size).toBe(3)
    expect(() => meaningOf('prefixes', ['users', 'list'])).toThrow(TypeError)
  })
})

function optionsIn(help: string): readonly (string | undefined)[] {
  return [...help.matchAll(/^ {2}--([a-z-]+)(?: \.\.\.)? {2,}\S/gm)].map(([, name]) => name)
}
