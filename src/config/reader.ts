import { readFileSync } from 'node:fs'
import type { SettingInForce } from '../core/overview/instance.ts'
import { messageOf } from '../core/errors.ts'
import { placeOf } from './urls.ts'

export type Environment = Readonly<Record<string, string | undefined>>

type ReadSetting = <T>(name: string, fallback: string, parse: (text: string) => T) => T

export interface Reader {
  readonly faults: string[]
  /** Those that were read, in this order. The first reading of a name decides what operators see of it. */
  readonly inForce: () => readonly SettingInForce[]
  /**
   * Records a fault and returns the default, so that one run finds all faults. Operators only see whether it is set: the
   * value can be a secret.
   */
  readonly setting: ReadSetting
  /** As `setting`, but operators see the value as it is written. */
  readonly shown: ReadSetting
  /** As `setting`, but operators see where the URL leads (`placeOf`). */
  readonly shownUrl: ReadSetting
  /** As `setting`, without a default. */
  readonly optional: (name: string) => string | undefined
}

export function createReader(environment: Environment): Reader {
  const faults: string[] = []
  const found = new Map<string, SettingInForce>()

  function read(name: string): string | undefined {
    const path = environment[`${name}_FILE`]
    if (path === undefined || path === '') return environment[name] || undefined
    try {
      return readFileSync(path, 'utf8').trim() || undefined
    } catch (error) {
      faults.push(`${name}_FILE: ${messageOf(error)}`)
      return undefined
    }
  }

  function record(setting: SettingInForce): void {
    if (!found.has(setting.name)) found.set(setting.name, setting)
  }

  function parsed<T>({ name, text, fallback, parse }: Parsing<T>): T {
    if (text === undefined) return parse(fallback)
    try {
      return parse(text)
    } catch (error) {
      faults.push(`${name}: ${messageOf(error)}`)
      return parse(fallback)
    }
  }

  function optional(name: string): string | undefined {
    const text = read(name)
    record({ name, isSecret: true, isSet: text !== undefined, value: undefined })
    return text
  }

  function shownAs(show: (text: string) => string): ReadSetting {
    return (name, fallback, parse) => {
      const text = read(name)
      const value = show(text ?? fallback) || undefined
      record({ name, isSecret: false, isSet: text !== undefined, value })
      return parsed({ name, text, fallback, parse })
    }
  }

  return {
    faults,
    inForce: () => [...found.values()],
    setting: (name, fallback, parse) => parsed({ name, text: optional(name), fallback, parse }),
    shown: shownAs(String),
    shownUrl: shownAs(placeOf),
    optional,
  }
}

interface Parsing<T> {
  readonly name: string
  readonly text: string | undefined
  readonly fallback: string
  readonly parse: (text: string) => T
}
