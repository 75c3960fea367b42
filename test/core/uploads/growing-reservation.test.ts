import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/errors.ts'
import type { ErrorCode } from '../../../src/core/error-codes.ts'
import { GrowingReservation } from '../../../src/core/uploads/reservation.ts'

/** A reservation that is refused above `most` bytes, and the bytes that it was asked for. */
function reservationUpTo(most: number, code: ErrorCode) {
  const asked: number[] = []
  const extend = async (bytes: number): Promise<void> => {
    asked.push(bytes)
    if (bytes > most) throw new AppError(code, 'Too much.')
  }
  return { asked, reservation: new GrowingReservation({ covered: 1, extend }) }
}

describe('a growing reservation', () => {
  it.each(['capacity_exceeded', 'unfinished_uploads_exceeded'] as const)(
    'R27 falls back on the bytes at hand when a whole step is refused with %s',
    async (code) => {
      const { asked, reservation } = reservationUpTo(15, code)
      await reservation.cover(10)
      expect(asked).toEqual([20, 10])
      expect(reservation.cover(10)).toBeUndefined()
      await expect(reservation.cover(16)).rejects.toMatchObject({ code })
      expect(asked).toEqual([20, 10, 32, 16])
    },
  )

  it('does not ask again after any other refusal', async () => {
    const { asked, reservation } = reservationUpTo(15, 'precondition_failed')
    await expect(reservation.cover(10)).rejects.toMatchObject({ code: 'precondition_failed' })
    expect(asked).toEqual([20])
  })
})
