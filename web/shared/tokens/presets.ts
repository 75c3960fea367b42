import type { TokenAction, TokenScope } from '../model.ts'
import { permits } from '../token-scope.ts'

/** What a new token can permit; the API has more combinations. */
const PRESETS = {
  send: ['read', 'create'],
  camera: ['create'],
  read: ['read'],
  sync: ['read', 'create', 'replace', 'delete'],
  all: undefined,
} as const satisfies Readonly<Record<string, readonly TokenAction[] | undefined>>

export type Preset = keyof typeof PRESETS

const NAMES = Object.keys(PRESETS) as readonly Preset[]

/** The actions; `undefined` for all that the token which makes it has. */
export function actionsOf(preset: Preset): readonly TokenAction[] | undefined {
  return PRESETS[preset]
}

/** Those that a token with this scope can make. */
export function presetsWithin(limit: TokenScope | null): readonly Preset[] {
  return NAMES.filter((preset) =>
    (actionsOf(preset) ?? []).every((action) => permits(limit, action)),
  )
}

/** Whether it only adds files, which then belong in a folder of their own. */
export function onlyAdds(preset: Preset): boolean {
  return preset === 'send' || preset === 'camera'
}

/** Whether a token with this scope can make tokens whose uploads make room. */
export function mayEvict(limit: TokenScope | null): boolean {
  const mayPurge = permits(limit, 'delete') && permits(limit, 'history')
  return mayPurge || limit?.when_full === 'evict_oldest'
}
