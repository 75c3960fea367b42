import { messages } from '../messages.ts'
import { operatorEnglish, type OperatorMessages } from './english.ts'

/** The messages of the operator's page, in the language that it is shown in. */
export const operatorWords: OperatorMessages = messages.operator ?? operatorEnglish
