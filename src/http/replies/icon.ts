// The icon of every page, within its address: a browser would ask for /favicon.ico otherwise.

export const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%23235a7d'/%3E%3Cpath d='M5 4h6M5 8h4M5 12h6' stroke='%23fff' stroke-width='1.6' stroke-linecap='round'/%3E%3C/svg%3E";
