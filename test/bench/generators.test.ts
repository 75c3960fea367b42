import { expect, test } from 'vitest'
import { parseWriteOut } from '../../bench/measure/curl.ts'
import { parseReport } from '../../bench/measure/wrk.ts'

const WRK = (line: string): string =>
  `Running 2s test @ http://127.0.0.1:1\n  1 threads and 16 connections\nRequests/sec: 12.0\n\n${line}\n`

const LINE =
  '{"requests":24,"duration_us":2000000,"bytes":5000,"p50_us":900,"p99_us":4000,"failed":0,"broken":0}'

test('the report of wrk is found among what it prints', () => {
  expect(parseReport(WRK(LINE))).toMatchObject({
    requests: 24,
    duration_us: 2_000_000,
    p50_us: 900,
    p99_us: 4000,
  })
})

test('a run with refused or broken requests is none', () => {
  expect(() => parseReport(WRK(LINE.replace('"failed":0', '"failed":3')))).toThrow('3 requests')
  expect(() => parseReport(WRK(LINE.replace('"broken":0', '"broken":2')))).toThrow('2 not answered')
  expect(() => parseReport(WRK(LINE.replace('"requests":24', '"requests":0')))).toThrow(
    'No request',
  )
})

test('a wrk that said nothing of its requests is told of with what it said', () => {
  expect(() => parseReport('unable to connect')).toThrow('unable to connect')
})

test('curl says how long a transfer took and what came', () => {
  expect(parseWriteOut('200 1.250000 4096\n')).toEqual({ seconds: 1.25, received: 4096 })
  expect(parseWriteOut('204 0.5 0\n', 204)).toEqual({ seconds: 0.5, received: 0 })
  expect(() => parseWriteOut('200 0.5 0', 204)).toThrow('200')
  expect(() => parseWriteOut('403 0.1 20')).toThrow('403')
  expect(() => parseWriteOut('')).toThrow('answered with 0')
})
