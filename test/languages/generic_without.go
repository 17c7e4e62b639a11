//go:build gccgo

package main

func partGeneric() {}
