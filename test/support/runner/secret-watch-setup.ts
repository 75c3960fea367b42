import { afterAll } from 'vitest'
import { takeLeaks } from './secret-watch.ts'

afterAll(() => {
  const leaks = takeLeaks()
  if (leaks.length > 0) throw new Error(`The log holds a secret:\n${leaks.join('')}`)
})
