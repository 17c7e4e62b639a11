//go:build !cgo || gccgo

package main

func partForeign() {}
