import { messages } from '../../messages.ts'
import { sharingEnglish, type SharingMessages } from './english.ts'

/** The messages of sharing, in the language that the page is shown in. */
export const words: SharingMessages = messages.sharing ?? sharingEnglish
