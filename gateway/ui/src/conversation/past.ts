/** Whether what is shown is the past: then nothing of it can be answered. */
import { createContext, useContext } from "react";

const Past = createContext(false);

export const PastProvider = Past.Provider;

export function usePast(): boolean {
  return useContext(Past);
}
