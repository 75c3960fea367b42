import type { CommandForm } from './command.ts'
import { COMMANDS } from './commands.ts'
import { meaningOf } from './options.ts'
import { formOf, usageOf } from './usage.ts'

/** All that `cloud-repo` runs, in the order of the help. */
export const FORMS: readonly CommandForm[] = [
  { usage: 'serve [--demo] [--print-token]', summary: 'run the service' },
  {
    usage: 'doctor',
    summary: 'check settings, database, object store, identity provider and webhooks',
  },
  ...COMMANDS,
]

/** The help that the words of a call ask for: on a command, on a group such as `tokens`, or on all commands. */
export function helpOn(args: readonly string[]): string {
  const given = args.filter((word) => !word.startsWith('-'))
  const isAskedFor = ({ words }: { readonly words: readonly string[] }): boolean =>
    words.every((word, at) => given[at] === word)
  const command = FORMS.find((each) => isAskedFor(formOf(each)))
  if (command !== undefined) return ofCommand(command)
  const group = FORMS.filter((each) => formOf(each).words[0] === given[0])
  const [name] = given
  if (group.length > 0)
    return [`usage: cloud-repo ${name} <command>`, '', ...linesOf(group)].join('\n')
  return [
    'usage: cloud-repo <command>',
    '',
    ...linesOf(FORMS),
    '',
    'cloud-repo <command> --help lists its options. --version prints the version.',
    'Settings are environment variables; docs/configuration.md lists them.',
  ].join('\n')
}

function ofCommand(command: CommandForm): string {
  const { words, options } = formOf(command)
  const own = Object.entries(options).map(([name, { type }]) => {
    return [type === 'string' ? `--${name} ...` : `--${name}`, meaningOf(name, words)] as const
  })
  const json = ['--json', meaningOf('json', words)] as const
  const isServe = words[0] === 'serve'
  return [
    usageOf(command),
    '',
    command.summary,
    '',
    ...inColumns(isServe ? own : [...own, json]),
  ].join('\n')
}

function linesOf(forms: readonly CommandForm[]): readonly string[] {
  return inColumns(forms.map((form) => [callOf(form), form.summary]))
}

/** Without options. */
function callOf({ usage }: CommandForm): string {
  const [call = ''] = usage.split(/ \[?--/, 1)
  return call
}

function inColumns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
