library(testthat)
library(glfsbio)

test_check("glfsbio")
