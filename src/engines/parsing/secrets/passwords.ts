/** Whether a text is a password, in a place where only a password can stand. */
import { choiceOf, isJoinedWords, isPhrase } from "./chosen.ts";
import { isGivenPassword, type GivenPlace } from "./given.ts";
import { isComposedPassword, isPlaceholder, randomnessBits } from "./randomness.ts";

/** A password in a place where only a password can occur may be shorter and less random. */
export const MIN_PASSWORD_CHARACTERS = 6;
export const MIN_PASSWORD_BITS = 10;
/** Test data for URLs is all symbols. */
export const MIN_PASSWORD_ALPHANUMERICS = 5;

const alphanumerics = (text: string): number => text.length - text.replace(/[A-Za-z\d]/g, "").length;

/** Whether a text may be a password, where nothing else can stand. */
export function isPassword(password: string, place: GivenPlace = "joined"): boolean {
  return (
    password.length >= MIN_PASSWORD_CHARACTERS &&
    !isPlaceholder(password) &&
    !/^(?:[$%{<#]|\[)/.test(password) &&
    /[A-Za-z]/.test(password) &&
    alphanumerics(password) >= MIN_PASSWORD_ALPHANUMERICS &&
    (randomnessBits(password) >= MIN_PASSWORD_BITS ||
      isComposedPassword(password) ||
      choiceOf(password) !== "none" ||
      isJoinedWords(password) ||
      isGivenPassword(password, place) ||
      isPhrase(password))
  );
}
