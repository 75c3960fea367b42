import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { messages as ofPages, type Messages } from '../../web/messages.ts'
import { auditEnglish } from '../../web/operator/audit/english.ts'
import { devicesEnglish } from '../../web/shared/devices/english.ts'
import { tokensEnglish } from '../../web/shared/tokens/english.ts'
import { sharingEnglish } from '../../web/user/links/english.ts'
import { linksEnglish } from '../../web/shared/link-english.ts'
import { visitEnglish } from '../../web/links/english.ts'
import { movesEnglish } from '../../web/user/moves/english.ts'
import { versionsEnglish } from '../../web/shared/versions/english.ts'
import { viewerEnglish } from '../../web/user/viewer/english.ts'
import { unfinishedEnglish } from '../../web/shared/unfinished-english.ts'
import { shortcutsEnglish } from '../../web/user/shortcuts/english.ts'
import { operatorEnglish } from '../../web/operator/english.ts'

interface Language {
  readonly messages: Messages
}

const english = {
  ...ofPages,
  moves: movesEnglish,
  links: linksEnglish,
  unfinished: unfinishedEnglish,
  tokens: tokensEnglish,
  sharing: sharingEnglish,
  devices: devicesEnglish,
  visit: visitEnglish,
  operator: operatorEnglish,
  audit: auditEnglish,
  shortcuts: shortcutsEnglish,
  viewer: viewerEnglish,
  versions: versionsEnglish,
}
const names = readdirSync('web/languages').map((file) => file.slice(0, -'.ts'.length))

it('German is one of the languages', () => {
  expect(names).toContain('de')
})

describe.each(names)('the messages in %s', async (name) => {
  const { messages } = (await import(`../../web/languages/${name}.ts`)) as Language
  const ofEnglish = leavesOf(english)
  const leaves = leavesOf(messages)

  it('are all that there are in English', () => {
    const paths = [...leaves.keys()]
    expect(paths.toSorted()).toEqual([...ofEnglish.keys()].toSorted())
    const lists = paths.filter((path) => /\.\d+$/.test(path))
    expect(lists.length).toBeGreaterThan(0)
  })

  it('say what each problem of the service is, whose own details are for programmers', () => {
    const known = { ...messages.problems, ...messages.operator?.problems }
    const missing = codes().filter((code) => !Object.hasOwn(known, code))
    expect(missing).toEqual([])
  })

  it('show each parameter that the English ones show', () => {
    const differing = [...ofEnglish].flatMap(([path, message]) => {
      const [ours, theirs] = [leaves.get(path), message].map(shownParameters)
      return JSON.stringify(ours) === JSON.stringify(theirs) ? [] : [{ path, ours, theirs }]
    })
    expect(differing).toEqual([])
    expect(shownParameters(ofEnglish.get('capacity.of'))).toEqual([true, true])
  })
})

/** The texts and functions of messages, by path. */
function leavesOf(messages: object): ReadonlyMap<string, unknown> {
  const leaves = new Map<string, unknown>()
  function collect(value: unknown, path: string): void {
    if (typeof value !== 'object' || value === null) {
      leaves.set(path, value)
      return
    }
    for (const [key, member] of Object.entries(value)) {
      collect(member, path === '' ? key : `${path}.${key}`)
    }
  }
  collect(messages, '')
  return leaves
}

/** All codes that a page can be answered with. */
function codes(): readonly string[] {
  const documents = ['openapi.json', 'admin-openapi.json'].map(
    (name) => JSON.parse(readFileSync(join('api', name), 'utf8')) as ProblemDocument,
  )
  const ofClient = ['invalid_url', 'connection_lost', 'unexpected_response', 'file_changed']
  const found = documents.flatMap(
    ({ components }) => components.schemas.Problem.properties.code.enum,
  )
  return [...new Set([...found, ...ofClient, 'outcome_unknown', 'upload_superseded'])]
}

interface ProblemDocument {
  readonly components: {
    readonly schemas: {
      readonly Problem: { readonly properties: { readonly code: { readonly enum: string[] } } }
    }
  }
}

/** Of a message without parameters, empty. */
function shownParameters(message: unknown): readonly boolean[] {
  if (typeof message !== 'function') return []
  const parameters = Array.from({ length: message.length }, (_none, at) => at)
  return parameters.map((at) =>
    PROBES.some(([usual, other]) => {
      const texts = [usual, other].map((value) => {
        const values = parameters.map((each) => (each === at ? value : usual))
        return textOf(message, values)
      })
      return texts[0] !== texts[1]
    }),
  )
}

/** Pairs of values that any message takes: as numbers, as texts and times, and as objects with members of both. */
const PROBES = [
  [5, 7000],
  [true, false],
  [probeOf('2026-01-02T03:04:05Z'), probeOf('2027-05-06T07:08:09Z')],
] as const

function probeOf(time: string): Date {
  const date = new Date(time)
  return Object.assign(date, { running: date, bytes: date, count: date, code: date })
}

/** Empty if the message does not take the values. */
function textOf(message: unknown, values: readonly unknown[] = [5, 5, 5, 5]): string {
  if (typeof message !== 'function') return String(message)
  try {
    return String((message as (...values: readonly unknown[]) => unknown)(...values))
  } catch {
    return ''
  }
}
