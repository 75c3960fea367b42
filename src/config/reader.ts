import { readFileSync } from 'node:fs'
import { messageOf } from '../core/errors.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface Reader {
  readonly faults: string[]
  /** Records a fault and returns the default, so that one run finds all faults. */
  readonly setting: <T>(name: string, fallback: string, parse: (text: string) => T) => T
  readonly optional: (name: string) => string | undefined
}

export function createReader(environment: Environment): Reader {
  const faults: string[] = []

  function optional(name: string): string | undefined {
    const path = environment[`${name}_FILE`]
    if (path === undefined || path === '') return environment[name] || undefined
    try {
      return readFileSync(path, 'utf8').trim() || undefined
    } catch (error) {
      faults.push(`${name}_FILE: ${messageOf(error)}`)
      return undefined
    }
  }

  function setting<T>(name: string, fallback: string, parse: (text: string) => T): T {
    const text = optional(name)
    if (text === undefined) return parse(fallback)
    try {
      return parse(text)
    } catch (error) {
      faults.push(`${name}: ${messageOf(error)}`)
      return parse(fallback)
    }
  }

  return { faults, setting, optional }
}
