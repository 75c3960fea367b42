import type { Command, CommandForm } from './command.ts'

/** What the usage of a command says, such as `devices add <user_id> <device_id> [--model ...]`. */
export interface Form {
  readonly words: readonly string[]
  /** Their names in order, the required ones first. */
  readonly operands: readonly string[]
  readonly requiredOperands: number
  /** By name: `string` takes a value. */
  readonly options: Readonly<Record<string, { readonly type: 'string' | 'boolean' }>>
  readonly requiredOptions: readonly string[]
}

export function formOf({ usage }: CommandForm): Form {
  const words: string[] = []
  const operands: string[] = []
  let requiredOperands = 0
  const options: Record<string, { readonly type: 'string' | 'boolean' }> = {}
  const requiredOptions: string[] = []
  const parts = [...usage.matchAll(PARTS)]
  if (parts.map(([part]) => part).join(' ') !== usage) throw new TypeError(`No usage: ${usage}`)
  for (const [part, option, value, required, text = ''] of parts) {
    if (option !== undefined) {
      options[option] = { type: value === undefined ? 'boolean' : 'string' }
      if (!part.startsWith('[')) requiredOptions.push(option)
    } else if (required !== undefined) {
      requiredOperands = operands.push(required)
    } else if (part.startsWith('[')) operands.push(text)
    else words.push(text)
  }
  return { words, operands, requiredOperands, options, requiredOptions }
}

const PARTS = /\[?(?:--([a-z-]+)( \.\.\.)?|<([^<>]+)>|([a-z][a-z_-]*))\]?/g

export function isHelp(word: string): boolean {
  return word === '--help' || word === '-h'
}

export function usageOf({ usage }: CommandForm): string {
  return `usage: cloud-repo ${usage}`
}

/** No command has more than two words. Names the commands of the group, or of groups with a similar name. */
export function unknownCommand(args: readonly string[], commands: readonly Command[]): string {
  const words = args.filter((word) => !word.startsWith('-')).slice(0, 2)
  const [given = ''] = words
  const groupOf = ({ usage }: Command): string => usage.split(' ', 1).join('')
  const isNear = (group: string): boolean =>
    given !== '' && (group.startsWith(given) || given.startsWith(group.replace(/s$/, '')))
  const near = commands.filter((command) => isNear(groupOf(command)))
  const groups = new Set(['serve', 'doctor', ...commands.map(groupOf)])
  return [
    `Unknown command "${words.join(' ') || args[0]}".`,
    ...(near.length > 0 ? near.map(usageOf) : [[...groups].join(', ')]),
    '"cloud-repo --help" describes all commands.',
  ].join('\n')
}
